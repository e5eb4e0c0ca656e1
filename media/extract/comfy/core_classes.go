package comfy

// coreBare lists the classes of ComfyUI itself that are not in the table of widget
// orders, most of them because they have none.
var coreBare = wordSet("BasicGuider BatchImagesNode CFGZeroStar CLIPMergeAdd CLIPSave CheckpointSave ComfySoftSwitchNode ConditioningCombine ConditioningConcat " +
	"ConditioningZeroOut CustomCombo DisableNoise FlipSigmas FluxDisableGuidance FluxKontextImageScale FluxKontextMaxImageSize GetImageSize " +
	"GetVideoComponents Hunyuan3Dv2Conditioning Hunyuan3Dv2ConditioningMultiView ImageBatch ImageFlip ImageInvert ImageResizeNode ImageRotate ImageToVideo " +
	"ImageUpscaleWithModel InstructPixToPixConditioning JoinImageWithAlpha LTXVAudioVAEDecode LTXVAudioVAEEncode LTXVConcatAVLatent LTXVCropGuides " +
	"LTXVLatentUpsampler LTXVSeparateAVLatent LatentAdd LatentBatch LatentInterpolate LatentMultiply LatentSubtract LoadImageTextDataSetFromFolder " +
	"LotusConditioning MaskToImage ModelMergeAdd ModelMergeSD1 ModelMergeSDXL ModelSave PreviewAny PreviewImage ReferenceLatent Reroute " +
	"SamplerCustomAdvanced SaveSVGNode SetLatentNoiseMask SplitImageWithAlpha StableCascade_StageB_Conditioning StableCascade_SuperResolutionControlnet " +
	"USOStyleReference VAEDecode VAEDecodeAudio VAEEncode VAEEncodeAudio VAESave VideoSlice VoxelToMeshBasic WanMoveTrackToVideo")

// isCore reports whether a class belongs to ComfyUI itself.
func isCore(class string) bool {
	_, listed := coreWidgets[class]
	return listed || coreBare[class]
}
