package comfy

import (
	"regexp"
	"strings"
)

// folderInputs are the inputs under which loaders name a folder of weights or the
// id of a hosted model. Elsewhere the same names hold options and services.
var folderInputs = map[string]bool{"model": true, "model_path": true, "model_name": true, "repo_id": true, "llm_model": true, "clip_model": true}

// notLoading are words that hold "load" and load no model.
var notLoading = strings.NewReplacer("download", "", "unload", "", "upload", "", "offload", "", "payload", "")

// namesFolder reports whether a value is a model named without the ending of a weight file, as
// loaders of whole folders and of hosted models do, from an option of the loader.
func namesFolder(n *node, name, val string) bool {
	if !folderInputs[name] || n.like("hosted") || !strings.Contains(notLoading.Replace(n.key), "load") {
		return false
	}
	return folderName.MatchString(val) && strings.ContainsAny(val, "/-_.0123456789") && !plainOption.MatchString(val)
}

var (
	folderName = regexp.MustCompile(`^[\pL\pN][\pL\pN ._/\\+()\[\]@-]{1,199}$`)
	// plainOption knows versions, precisions, quantizations, attention kernels and
	// devices: options look like names to anyone who does not know the words.
	plainOption = regexp.MustCompile(`(?i)^(v?\d+([._]\d+)*[bkm]?|(torch\.)?(b?float|bf|fp|nf|u?int|q)\d+([_.-].*)?|(cuda|cpu|gpu|mps|xpu)[ _:.-]?\d*|(main|offload)[_-]device|.*_?attn(_.*)?|flash[_-].*)$`)
)
