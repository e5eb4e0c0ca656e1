"""Vitrine nodes for ComfyUI: save images into a Vitrine library, and load them from it.

Copy or link this folder into ComfyUI/custom_nodes. It needs no packages beyond ComfyUI's own.
"""

from .nodes import LoadFromVitrine, SaveToVitrine

NODE_CLASS_MAPPINGS = {
    "SaveToVitrine": SaveToVitrine,
    "LoadFromVitrine": LoadFromVitrine,
}

NODE_DISPLAY_NAME_MAPPINGS = {
    "SaveToVitrine": "Save to Vitrine",
    "LoadFromVitrine": "Load from Vitrine",
}

__all__ = ["NODE_CLASS_MAPPINGS", "NODE_DISPLAY_NAME_MAPPINGS"]
