"""The nodes. They follow ComfyUI's contract of custom nodes: INPUT_TYPES, RETURN_TYPES, FUNCTION, CATEGORY."""

import hashlib
import io
import os
import re

from . import png
from .client import Client, settings
from .queue import Queue

_queue = None


def queue():
    """Returns the queue of uploads, which lies in ComfyUI's folder of user data or beside this file."""
    global _queue
    if _queue is None:
        import folder_paths  # of ComfyUI

        home = folder_paths.get_user_directory() if hasattr(folder_paths, "get_user_directory") else os.path.dirname(os.path.abspath(__file__))
        _queue = Queue(os.path.join(home, "vitrine-uploads"))
    return _queue


def _resume():
    """Goes on with uploads that an earlier run of ComfyUI left."""
    try:
        if queue().waiting():
            queue().start()
    except Exception:  # outside of ComfyUI, or without a folder: saving says what is wrong
        pass


class SaveToVitrine:
    """Saves images into ComfyUI's output folder, as Save Image does, and sends them to Vitrine in the background."""

    CATEGORY = "Vitrine"
    DESCRIPTION = "Saves images to the output folder and uploads them to a Vitrine library in the background. The files stay when the library is away; they are sent later."
    RETURN_TYPES = ("STRING",)
    RETURN_NAMES = ("asset_h",)
    OUTPUT_IS_LIST = (True,)
    FUNCTION = "save"
    OUTPUT_NODE = True

    @classmethod
    def INPUT_TYPES(cls):
        return {
            "required": {
                "images": ("IMAGE", {"tooltip": "The images to save."}),
                "filename_prefix": ("STRING", {"default": "ComfyUI", "tooltip": "As in Save Image."}),
            },
            "optional": {
                "tags": ("STRING", {"default": "", "tooltip": "Tags in the library, separated by commas."}),
                "collection": ("STRING", {"default": "", "tooltip": "Path of a collection that exists in the library."}),
            },
            "hidden": {"prompt": "PROMPT", "extra_pnginfo": "EXTRA_PNGINFO"},
        }

    def save(self, images, filename_prefix="ComfyUI", tags="", collection="", prompt=None, extra_pnginfo=None):
        import folder_paths  # of ComfyUI

        height, width = int(images[0].shape[0]), int(images[0].shape[1])
        folder, name, counter, subfolder, _ = folder_paths.get_save_image_path(filename_prefix, folder_paths.get_output_directory(), width, height)
        labels = [t.strip() for t in tags.split(",") if t.strip()]
        hashes, shown = [], []
        for number, image in enumerate(images):
            data = png.encode(*_pixels(image), prompt=prompt, extra=extra_pnginfo)
            file = "%s_%05d_.png" % (name.replace("%batch_num%", str(number)), counter)
            path = os.path.join(folder, file)
            _write(path, data)
            queue().add(path, file, "image/png", labels, collection.strip())
            hashes.append(hashlib.sha1(data).hexdigest())
            shown.append({"filename": file, "subfolder": subfolder, "type": "output"})
            counter += 1
        return {"ui": {"images": shown}, "result": (hashes,)}


def _pixels(image):
    """Returns the bytes of one image of a batch (height, width, channels; floats from 0 to 1), and its dimensions."""
    values = image.cpu().numpy() if hasattr(image, "cpu") else image
    height, width, channels = (int(n) for n in values.shape)
    return (values * 255.0).clip(0, 255).astype("uint8").tobytes(), width, height, channels


def _write(path, data):
    """Writes a file whole, so that a crash leaves no half of one under its name."""
    with open(path + ".new", "wb") as f:
        f.write(data)
        f.flush()
        os.fsync(f.fileno())
    os.replace(path + ".new", path)


class LoadFromVitrine:
    """Loads an image from Vitrine, by its hash or as a result of a query."""

    CATEGORY = "Vitrine"
    DESCRIPTION = "Loads an image from a Vitrine library: by the hash of the asset, or the result of a query."
    RETURN_TYPES = ("IMAGE", "MASK", "STRING")
    RETURN_NAMES = ("image", "mask", "asset_h")
    FUNCTION = "load"

    @classmethod
    def INPUT_TYPES(cls):
        return {
            "required": {
                "asset": ("STRING", {"default": "", "tooltip": "The asset's hash (40 hex digits), or a query such as: fox tag:approved"}),
            },
            "optional": {
                "index": ("INT", {"default": 0, "min": 0, "max": 9999, "tooltip": "Which result of the query, from 0."}),
            },
        }

    @classmethod
    def IS_CHANGED(cls, asset, index=0):
        """Asks the library again for a query, and never for a hash: its bytes cannot change."""
        return asset if _is_hash(asset) else float("nan")

    @classmethod
    def VALIDATE_INPUTS(cls, asset):
        return True if asset.strip() else "Name an asset by its hash, or write a query."

    def load(self, asset, index=0):
        asset = asset.strip()
        client = Client(**settings())
        asset_h = asset.lower() if _is_hash(asset) else client.find(asset, index)
        return _tensors(client.download(asset_h)) + (asset_h,)


def _is_hash(text):
    return re.fullmatch(r"[0-9a-fA-F]{40}", text.strip()) is not None


def _tensors(data):
    """Returns a picture and its mask as Load Image does. Pillow, NumPy and PyTorch are ComfyUI's own."""
    import numpy
    import torch
    from PIL import Image, ImageOps

    picture = ImageOps.exif_transpose(Image.open(io.BytesIO(data)))
    rgb = numpy.asarray(picture.convert("RGB")).astype(numpy.float32) / 255.0
    if "A" in picture.getbands() or "transparency" in picture.info:
        mask = 1.0 - numpy.asarray(picture.convert("RGBA").getchannel("A")).astype(numpy.float32) / 255.0
    else:
        mask = numpy.zeros((64, 64), dtype=numpy.float32)
    return torch.from_numpy(rgb)[None,], torch.from_numpy(mask)[None,]


_resume()
