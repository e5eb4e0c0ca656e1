package comfy

var editorMutations = []mutation{}
