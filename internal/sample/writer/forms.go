package writer

import "vitrine/internal/sample/draw"

// Forms lists every way of saving, in a fixed order.
func Forms() []Form { return forms }

var forms = []Form{
	{Name: "comfyui", Tool: "comfyui", Ext: ".png", Save: saveGraph(rawText, basicGraph)},
	{Name: "a1111-png", Tool: "sd-webui", Ext: ".png", Save: saveWebuiPNG},
	{Name: "comfyui-custom", Tool: "comfyui", Ext: ".png", Save: saveGraph(rawText, customGraph)},
	{Name: "comfyui-img2img", Tool: "comfyui", Ext: ".png", NeedsParent: true, Save: saveGraph(rawText, imageGraph)},
	{Name: "a1111-jpeg", Tool: "sd-webui", Ext: ".jpg", Save: saveWebuiJPEG},
	{Name: "comfyui-refiner", Tool: "comfyui", Ext: ".png", Save: saveGraph(rawText, refinerGraph)},
	{Name: "comfyui-hires", Tool: "comfyui", Ext: ".png", Save: saveGraph(rawText, hiresGraph)},
	{Name: "comfyui-subgraph", Tool: "comfyui", Ext: ".png", Save: saveGraph(rawText, foldedGraph)},
	{Name: "comfyui-concat", Tool: "comfyui", Ext: ".png", Save: saveGraph(rawText, joinedGraph)},
	{Name: "comfyui-stack", Tool: "comfyui", Ext: ".png", Save: saveGraph(rawText, stackGraph)},
	{Name: "comfyui-controlnet", Tool: "comfyui", Ext: ".png", NeedsParent: true, Save: saveGraph(rawText, guidedGraph)},
	{Name: "comfyui-upscale", Tool: "comfyui", Ext: ".png", Save: saveGraph(rawText, upscaleGraph)},
	{Name: "comfyui-packed", Tool: "comfyui", Ext: ".png", Save: saveGraph(packedText, basicGraph)},
	{Name: "forge-png", Tool: "forge", Ext: ".png", Save: saveForgePNG},
	{Name: "invokeai", Tool: "invokeai", Ext: ".png", Save: saveInvoke},
	{Name: "invokeai-img2img", Tool: "invokeai", Ext: ".png", NeedsParent: true, Save: saveInvoke},
	{Name: "swarmui-png", Tool: "swarmui", Ext: ".png", Save: saveSwarmPNG},
	{Name: "swarmui-jpeg", Tool: "swarmui", Ext: ".jpg", Save: saveSwarmJPEG},
	{Name: "novelai", Tool: "novelai", Ext: ".png", Save: saveNovel},
	{Name: "fooocus", Tool: "fooocus", Ext: ".png", Save: saveFooocus},
	{Name: "imagetool", Tool: "midjourney", Ext: ".png", Save: saveImageTool},
	{Name: "imagetool-variation", Tool: "midjourney", Ext: ".png", NeedsParent: true, Save: saveImageTool},
	{Name: "bare-png", Ext: ".png", Save: saveBarePNG},
	{Name: "chat-jpeg", Ext: ".jpg", Save: saveChatJPEG},
}

// saveBarePNG is a picture whose data an editor dropped.
func saveBarePNG(pic draw.Picture, _ *Job) ([]byte, Facts, error) {
	data, err := encodePNG(pic, density(2834))
	return data, Facts{}, err
}

// saveChatJPEG is a picture a chat app compressed hard and stripped.
func saveChatJPEG(pic draw.Picture, _ *Job) ([]byte, Facts, error) {
	data, err := encodeJPEG(pic, 62, nil)
	return data, Facts{}, err
}
