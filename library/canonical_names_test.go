package library_test

import (
	"testing"

	"vitrine/library"
)

func TestCanonicalSampler_ProgramsSpellOneSamplerInManyWays(t *testing.T) {
	for written, want := range map[string][2]string{
		"DPM++ 2M Karras": {"dpmpp_2m", "karras"}, "dpm++ 2m": {"dpmpp_2m", ""}, "dpmpp_2m": {"dpmpp_2m", ""}, "dpmpp_2m_k": {"dpmpp_2m", "karras"},
		"DPMSolverMultistepScheduler": {"dpmpp_2m", ""}, "k_dpmpp_2m": {"dpmpp_2m", ""}, "DPM++ 2M SDE Exponential": {"dpmpp_2m_sde", "exponential"},
		"dpmpp_2m_sde_gpu": {"dpmpp_2m_sde", ""}, "DPM++ 2S a Karras": {"dpmpp_2s_ancestral", "karras"},
		"Euler a": {"euler_ancestral", ""}, "euler_a": {"euler_ancestral", ""}, "k_euler_ancestral": {"euler_ancestral", ""}, "euler_ancestral": {"euler_ancestral", ""},
		"Euler": {"euler", ""}, "euler_k": {"euler", "karras"}, "EulerDiscreteScheduler": {"euler", ""},
		"DPM2 a Karras": {"dpm_2_ancestral", "karras"}, "UniPC": {"uni_pc", ""}, "unipc_k": {"uni_pc", "karras"}, "DDIM CFG++": {"ddim_cfg_pp", ""},
		"Some New Sampler": {"Some New Sampler", ""}, "Some New Karras": {"Some New Karras", ""}, "karras": {"karras", ""}, "": {"", ""}, "_k": {"_k", ""},
	} {
		if sampler, schedule := library.CanonicalSampler(written); sampler != want[0] || schedule != want[1] {
			t.Errorf("%q is sampler %q and schedule %q, want %q", written, sampler, schedule, want)
		}
	}
}

func TestCanonicalNames_OfSchedulesProgramsAndFamilies(t *testing.T) {
	for written, want := range map[string]string{"Karras": "karras", "SGM Uniform": "sgm_uniform", "Align Your Steps": "align_your_steps", "DDIM": "ddim_uniform", "Mine": "Mine"} {
		if got := library.CanonicalScheduler(written); got != want {
			t.Errorf("schedule %q is %q, want %q", written, got, want)
		}
	}
	for written, want := range map[string]string{"a1111": "sd-webui", "AUTOMATIC1111": "sd-webui", "sd-webui": "sd-webui", "Stable Diffusion web UI": "sd-webui", "ComfyUI": "comfyui",
		"draw things": "draw-things", "stable-diffusion.cpp": "stable-diffusion.cpp", "my-own-tool": "my-own-tool"} {
		if got := library.CanonicalTool(written); got != want {
			t.Errorf("program %q is %q, want %q", written, got, want)
		}
	}
	for written, want := range map[string]string{"SDXL 1.0": "sdxl", "SDXL": "sdxl", "sd-1": "sd15", "SD 1.5": "sd15", "sd15": "sd15", "Pony": "pony", "Flux.1": "flux", "Flux.1 D": "Flux.1 D", "SD 3.5": "sd35", "Wan Video": "Wan Video"} {
		if got := library.CanonicalBaseModel(written); got != want {
			t.Errorf("base model %q is %q, want %q", written, got, want)
		}
	}
	for written, want := range map[string]string{"dpm++": "dpmpp", "DPM++ 2M S": "dpmpp_2m_s", "xyz": "", "": ""} {
		if got := library.SamplerPrefix(written); got != want {
			t.Errorf("%q begins %q, want %q", written, got, want)
		}
	}
}

func TestAssertedPrompt_IsFoundUnderTheNamesThatClientsUse(t *testing.T) {
	for claim, want := range map[string]string{`{"prompt":"a fox"}`: "a fox", `{"positive":"a cat","seed":1}`: "a cat", `{"prompt":7}`: "", `{}`: "", `[`: "", ``: ""} {
		if got := library.AssertedPrompt([]byte(claim)); got != want {
			t.Errorf("%s asserts %q, want %q", claim, got, want)
		}
	}
}
