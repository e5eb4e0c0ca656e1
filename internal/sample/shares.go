package sample

import "vitrine/internal/sample/writer"

// share is one row of the table of proportions: how many files in a thousand
// are saved this way. A row whose form is nil is an oddity (see odd.go). A row
// that needs a source takes an earlier file as its parent or original.
type share struct {
	name        string
	perThousand int
	form        *writer.Form
	needsSource bool
}

// shares is the one place that sets the mix of a sample.
var shares = complete([]share{
	{name: "comfyui", perThousand: 136},
	{name: "a1111-png", perThousand: 115},
	{name: "imagetool", perThousand: 40},
	{name: "comfyui-custom", perThousand: 75},
	{name: "comfyui-img2img", perThousand: 45},
	{name: "a1111-jpeg", perThousand: 55},
	{name: "invokeai", perThousand: 42},
	{name: "invokeai-img2img", perThousand: 12},
	{name: "swarmui-png", perThousand: 38},
	{name: "swarmui-jpeg", perThousand: 14},
	{name: "novelai", perThousand: 38},
	{name: "fooocus", perThousand: 36},
	{name: "forge-png", perThousand: 50},
	{name: "imagetool-variation", perThousand: 16},
	{name: "comfyui-refiner", perThousand: 35},
	{name: "comfyui-hires", perThousand: 45},
	{name: "comfyui-subgraph", perThousand: 28},
	{name: "comfyui-concat", perThousand: 30},
	{name: "comfyui-stack", perThousand: 26},
	{name: "comfyui-controlnet", perThousand: 22},
	{name: "comfyui-upscale", perThousand: 25},
	{name: "comfyui-packed", perThousand: 14},
	{name: "bare-png", perThousand: 28},
	{name: "chat-jpeg", perThousand: 20},
	{name: oddDuplicate, perThousand: 6, needsSource: true},
	{name: oddTruncated, perThousand: 2, needsSource: true},
	{name: oddNotes, perThousand: 2},
	{name: oddEmpty, perThousand: 1},
	{name: oddMislabelled, perThousand: 2},
	{name: oddHidden, perThousand: 2},
})

// complete joins the rows with the forms of the same name.
func complete(rows []share) []share {
	forms := writer.Forms()
	for i := range rows {
		for k := range forms {
			if forms[k].Name == rows[i].name {
				rows[i].form = &forms[k]
				rows[i].needsSource = forms[k].NeedsParent || forms[k].Name == "chat-jpeg"
			}
		}
	}
	return rows
}
