package comfy

// knownOutputs names the outputs of classes, by folded class, for files that hold
// the executed graph alone.
var knownOutputs = map[string][]string{
	"ksamplerefficient":         {"model", "conditioning+", "conditioning-", "latent", "vae", "image"},
	"ksampleradvefficient":      {"model", "conditioning+", "conditioning-", "latent", "vae", "image"},
	"efficientloader":           {"model", "conditioning+", "conditioning-", "latent", "vae", "clip", "dependencies"},
	"effloadersdxl":             {"sdxl_tuple", "latent", "vae", "dependencies"},
	"frombasicpipe":             {"model", "clip", "vae", "positive", "negative"},
	"frombasicpipev2":           {"basic_pipe", "model", "clip", "vae", "positive", "negative"},
	"contextrgthree":            {"context", "model", "clip", "vae", "positive", "negative", "latent", "image", "seed"},
	"contextbigrgthree":         bigContext,
	"contextmergebigrgthree":    bigContext,
	"contextswitchbigrgthree":   bigContext,
	"sdxlpromptstyler":          {"text_positive", "text_negative"},
	"sdxlpromptstyleradvanced":  {"text_positive_g", "text_positive_l", "text_positive", "text_negative_g", "text_negative_l", "text_negative"},
	"easypipeout":               {"pipe", "model", "positive", "negative", "latent", "vae", "clip", "image", "seed"},
	"ttnpipeout":                {"model", "positive", "negative", "latent", "vae", "clip", "image", "seed", "pipe"},
	"ksamplerconfigrgthree":     {"steps", "refiner_step", "cfg", "sampler_name", "scheduler"},
	"getimagesize":              {"width", "height", "batch_size"},
	"craspectratio":             {"width", "height", "upscale_factor", "prescale_factor", "batch_size", "empty_latent", "show_help"},
	"crsdxlaspectratio":         {"width", "height", "upscale_factor", "batch_size", "empty_latent", "show_help"},
	"sdxlemptylatentsizepicker": {"latent", "width", "height"},
}

var bigContext = []string{
	"context", "model", "clip", "vae", "positive", "negative", "latent", "image", "seed", "steps", "step_refiner", "cfg", "ckpt_name", "sampler", "scheduler",
	"clip_width", "clip_height", "text_pos_g", "text_pos_l", "text_neg_g", "text_neg_l", "mask", "control_net",
}
