package formats

import (
	"regexp"
	"strings"
)

var (
	forgeVersion       = regexp.MustCompile(`^f\d`)
	easyReforgeVersion = regexp.MustCompile(`^f\d+\.\d+(\.\d+)?-v`)     // f1.3.0-v1.10.1RC-latest-1038-g19395bf9
	reforgeVersion     = regexp.MustCompile(`^f\d+\.\d+(\.\d+)?v\d+-v`) // f1.0.0v2-v1.10.1RC-latest-2498-g5120e679
)

// infotextTool returns which program wrote the text. Programs of the family and
// those that imitate it share one grammar; the version string is the only signature.
func infotextTool(s settings) (tool, version string) {
	version = s.get("Version")
	v := strings.ToLower(version)
	switch {
	case strings.EqualFold(s.get("App"), "SD.Next"):
		return "sd-next", version
	case strings.HasPrefix(v, "stable-diffusion.cpp"):
		return "stable-diffusion.cpp", cppVersion(s)
	case strings.HasPrefix(v, "comfyui"): // a saver of its own may add the version, as "ComfyUI version: 0.3.10"
		return "comfyui", strings.TrimPrefix(strings.TrimLeft(v[len("comfyui"):], " :"), "version: ")
	case strings.HasPrefix(v, "fooocus"):
		return "fooocus", version
	case strings.HasPrefix(v, "classic"):
		return "forge-classic", version
	case strings.HasPrefix(v, "neo"):
		return "forge-neo", version
	case easyReforgeVersion.MatchString(v):
		return "easy-reforge", version
	case reforgeVersion.MatchString(v):
		return "reforge", version
	case forgeVersion.MatchString(v):
		return "forge", version
	case version == "" && (s.get("Civitai resources") != "" || s.get("Civitai metadata") != ""):
		return "civitai", ""
	}
	return "sd-webui", version
}

// cppVersion returns the version of stable-diffusion.cpp, which stands in the JSON
// record that newer ones add.
func cppVersion(s settings) string {
	return parseObject(s.get("SDCPP")).object("generator").name("version")
}
