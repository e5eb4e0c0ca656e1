package writer

import (
	"encoding/hex"
	"fmt"
	"strings"

	"vitrine/internal/sample/draw"
)

// Names of models: our own inventions beside the public base models everybody
// has on disk.
var (
	Checkpoints = []string{"auroraDreamXL_v30", "paperLantern_v12", "novaPrismXL_alpha", "inkAndEmber_v4", "sd_xl_base_1.0", "dreamharbor_v8", "velvetOrbit_xl", "v1-5-pruned-emaonly", "silverGrain_v21", "wanderlustMix_v7"}
	LoRAs       = []string{"soft_glow_xl", "detail_weaver", "stained_light_v2", "gouache_touch", "neon_haze", "filmic_grain_35mm", "paper_cut_layers", "mist_maker", "add_filigree_v3", "wet_streets"}
)

const (
	vaeSDXL     = "sdxl_vae"
	refiner     = "sd_xl_refiner_1.0"
	fluxModel   = "flux1-dev"
	upscaler    = "RealESRGAN_x4plus"
	controlFile = "control_depth_harbor_v1"
)

func file(name string) string { return name + ".safetensors" }

// hashOf is a stable stand-in for the digest of a model file: n hex digits.
func hashOf(name string, n int) string {
	r := draw.NewRand(draw.Mix(letters(name)...))
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "%016x", r.Uint64())
	}
	return b.String()[:n]
}

func letters(s string) []uint64 {
	var out []uint64
	for _, r := range s {
		out = append(out, uint64(r))
	}
	return out
}

// UUID returns a version 4 UUID from r.
func UUID(r *draw.Rand) string {
	var b [16]byte
	for i := range b {
		b[i] = byte(r.Uint64())
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// names of samplers in other tools, by graph tool name.
var webuiSampler = map[string]string{
	"euler": "Euler", "euler_ancestral": "Euler a", "dpmpp_2m": "DPM++ 2M", "dpmpp_2m_sde": "DPM++ 2M SDE",
	"dpmpp_sde": "DPM++ SDE", "ddim": "DDIM", "heun": "Heun", "uni_pc": "UniPC",
}

var webuiScheduler = map[string]string{
	"normal": "Automatic", "karras": "Karras", "exponential": "Exponential", "sgm_uniform": "SGM Uniform", "simple": "Simple",
}

var invokeSampler = map[string]string{
	"euler": "euler", "euler_ancestral": "euler_a", "dpmpp_2m": "dpmpp_2m", "dpmpp_2m_sde": "dpmpp_2m_sde",
	"dpmpp_sde": "dpmpp_sde", "ddim": "ddim", "heun": "heun", "uni_pc": "unipc",
}

// Samplers and Schedulers list the graph tool names a Job may use.
var (
	Samplers   = []string{"euler", "euler_ancestral", "dpmpp_2m", "dpmpp_2m_sde", "dpmpp_sde", "ddim", "heun", "uni_pc"}
	Schedulers = []string{"normal", "karras", "exponential", "sgm_uniform", "simple"}
)
