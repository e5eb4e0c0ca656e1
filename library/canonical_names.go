package library

import "strings"

// The programs that make pictures write one sampler in many ways: "DPM++ 2M Karras",
// dpmpp_2m_k and DPMSolverMultistepScheduler are the sampler dpmpp_2m. What is searched and
// counted has one canonical name, that of ComfyUI where it has one; what a file says
// is kept beside it as it is written. A name that no list has stays as it is.

// samplerNames are the written forms of samplers, folded, by canonical name: of A1111 and
// its kin, InvokeAI, Diffusers, NovelAI, Draw Things and their older releases. The canonical
// name is its own written form.
var samplerNames = writtenForms(map[string]string{
	"euler":                   "k_euler eulerdiscretescheduler flowmatcheulerdiscretescheduler",
	"euler_cfg_pp":            "euler_cfgpp",
	"euler_ancestral":         "euler_a k_euler_a k_euler_ancestral eulerancestraldiscretescheduler",
	"euler_ancestral_cfg_pp":  "euler_a_cfgpp",
	"heun":                    "k_heun heundiscretescheduler",
	"heunpp2":                 "heunpp",
	"dpm_2":                   "dpm2 k_dpm_2 kdpm_2 kdpm2discretescheduler",
	"dpm_2_ancestral":         "dpm2_a dpm_2_a k_dpm_2_a k_dpm_2_ancestral kdpm_2_a dpm2_ancestral kdpm2ancestraldiscretescheduler",
	"lms":                     "k_lms lmsdiscretescheduler",
	"dpm_fast":                "k_dpm_fast",
	"dpm_adaptive":            "k_dpm_adaptive",
	"dpmpp_2s_ancestral":      "dpmpp_2s_a k_dpmpp_2s_a k_dpmpp_2s_ancestral",
	"dpmpp_2s":                "dpmsolversinglestepscheduler",
	"dpmpp_sde":               "k_dpmpp_sde dpmsolversdescheduler",
	"dpmpp_2m":                "k_dpmpp_2m dpmsolvermultistepscheduler",
	"dpmpp_2m_sde":            "k_dpmpp_2m_sde",
	"dpmpp_2m_sde_heun":       "dpmpp_2m_sde_heun_gpu",
	"dpmpp_3m_sde":            "k_dpmpp_3m_sde",
	"ddim":                    "ddimscheduler",
	"ddpm":                    "ddpmscheduler",
	"ddim_cfg_pp":             "ddim_cfgpp",
	"plms":                    "k_plms",
	"pndm":                    "pndmscheduler",
	"uni_pc":                  "unipc unipcmultistepscheduler",
	"uni_pc_bh2":              "unipc_bh2",
	"lcm":                     "lcmscheduler",
	"tcd":                     "tcdscheduler",
	"deis":                    "deismultistepscheduler",
	"restart":                 "",
	"res_multistep":           "",
	"res_multistep_ancestral": "",
	"gradient_estimation":     "",
	"er_sde":                  "",
	"seeds_2":                 "",
	"seeds_3":                 "",
	"ipndm":                   "",
	"ipndm_v":                 "",
})

// schedulerNames are the written forms of noise schedules.
var schedulerNames = writtenForms(map[string]string{
	"karras": "", "exponential": "", "polyexponential": "", "normal": "", "simple": "", "beta": "", "beta57": "", "linear_quadratic": "", "turbo": "", "uniform": "",
	"sgm_uniform": "sgmuniform", "ddim_uniform": "ddim", "kl_optimal": "kloptimal", "align_your_steps": "ays align_your_step", "bong_tangent": "",
})

// toolNames are the written forms of programs, folded.
var toolNames = writtenForms(map[string]string{
	"sd-webui":             "a1111 automatic1111 automatic_1111 auto1111 sd_webui stable_diffusion_webui stable_diffusion_web_ui webui",
	"forge":                "sd_webui_forge stable_diffusion_webui_forge webui_forge sd_forge",
	"sd-next":              "sdnext sd_next vladmandic vlad",
	"comfyui":              "comfy comfy_ui",
	"invokeai":             "invoke invoke_ai",
	"swarmui":              "swarm swarm_ui stableswarm stableswarmui",
	"midjourney":           "mj mid_journey",
	"draw-things":          "drawthings draw_things",
	"novelai":              "nai novel_ai",
	"fooocus":              "",
	"ruined-fooocus":       "ruinedfooocus ruined_fooocus",
	"easydiffusion":        "easy_diffusion",
	"stability-matrix":     "stabilitymatrix stability_matrix",
	"stable-diffusion.cpp": "sd_cpp sdcpp stable_diffusion_cpp",
	"diffusers":            "hf_diffusers hugging_face_diffusers",
})

// baseModelNames are the written forms of the families of models, folded: of Civitai,
// InvokeAI, the headers of model files and what people type.
var baseModelNames = writtenForms(map[string]string{
	"sd14":        "sd1_4 sd_1_4 sd_v1_4 stable_diffusion_1_4 stable_diffusion_v1_4",
	"sd15":        "sd1 sd_1 sd1_5 sd_1_5 sd_v1_5 sd1_x sd_1_x stable_diffusion_1_5 stable_diffusion_v1 stable_diffusion_v1_5",
	"sd2":         "sd_2 sd2_x sd_2_x stable_diffusion_2 stable_diffusion_v2 sd2_0 sd_2_0 sd20 stable_diffusion_2_0 sd2_1 sd_2_1 sd21 sd_2_1_768 stable_diffusion_2_1",
	"sdxl":        "sd_xl sdxl1 sdxl_1 sdxl1_0 sdxl_1_0 sd_xl_1_0 sdxl_v1 sdxl_base sdxl_base_1_0 sd_xl_base_1_0 sdxl_base_v1_0 stable_diffusion_xl stable_diffusion_xl_1_0 stable_diffusion_xl_v1_base",
	"sd3":         "sd_3 stable_diffusion_3",
	"sd35":        "sd3_5 sd_3_5 stable_diffusion_3_5",
	"flux":        "flux1 flux_1",
	"pony":        "pony_diffusion pony_diffusion_v6 pony_diffusion_v6_xl pony_xl ponyxl pdxl",
	"illustrious": "illustrious_xl illustriousxl ilxl",
	"noobai":      "noob_ai noobai_xl noob_ai_xl",
})

// writtenForms turns a table around: from each written form to the canonical name.
func writtenForms(table map[string]string) map[string]string {
	out := map[string]string{}
	for name, forms := range table {
		out[foldName(name)] = name
		for form := range strings.FieldsSeq(forms) {
			out[form] = name
		}
	}
	return out
}

// foldName is a name in lower case, with one underscore for whatever joins its words and
// pp for ++, as ComfyUI writes it.
func foldName(s string) string {
	s = strings.ReplaceAll(strings.ToLower(s), "++", "pp")
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '_' || r == '-' || r == '.' || r == '\t' }), "_")
}

// CanonicalTool returns the canonical name of a program, or the name as it is.
func CanonicalTool(written string) string { return canonical(toolNames, written) }

// CanonicalScheduler returns the canonical name of a noise schedule, or the name as it is.
func CanonicalScheduler(written string) string { return canonical(schedulerNames, written) }

// CanonicalBaseModel returns the canonical name of a family of models, as sdxl for "SDXL 1.0",
// or the name as it is.
func CanonicalBaseModel(written string) string { return canonical(baseModelNames, written) }

func canonical(names map[string]string, written string) string {
	if name, ok := names[foldName(written)]; ok {
		return name
	}
	return written
}

// CanonicalSampler returns the canonical name of a sampler, or the name as it is, and of
// the noise schedule that the name ends with, as in "DPM++ 2M Karras", if any.
func CanonicalSampler(written string) (sampler, scheduler string) {
	folded := foldName(written)
	if name, ok := samplerNames[folded]; ok {
		return name, ""
	}
	for i := len(folded) - 1; i > 0; i-- {
		if folded[i] != '_' {
			continue
		}
		name, known := samplerNames[folded[:i]]
		schedule, scheduled := schedulerNames[folded[i+1:]]
		if folded[i+1:] == "k" { // as InvokeAI writes it
			schedule, scheduled = "karras", true
		}
		if known && scheduled {
			return name, schedule
		}
	}
	for _, suffix := range []string{"_gpu", "_cpu"} { // where the noise is drawn is no other sampler
		if name, ok := samplerNames[strings.TrimSuffix(folded, suffix)]; ok {
			return name, ""
		}
	}
	return written, ""
}

// SamplerPrefix returns what names of samplers begin with that are written with such a
// beginning, as dpm++ begins those of dpmpp_2m and dpmpp_sde; empty where none does.
func SamplerPrefix(written string) string {
	folded := foldName(written)
	for name := range samplerNames {
		if folded != "" && strings.HasPrefix(name, folded) {
			return folded
		}
	}
	return ""
}
