"""Runs the nodes of a custom node pack as ComfyUI does: the pack is loaded from its folder, inputs are checked
against INPUT_TYPES, hidden ones are filled in, and FUNCTION is called by name.

Reads {"pack", "home", "steps": [{"node", "inputs"} | {"drain": seconds} | {"waiting": true}]} from standard input
and writes one JSON value per step. Images go in as [width, height, seed] and come back with their sums.
"""

import hashlib
import importlib.util
import json
import os
import re
import sys
import types

import numpy

task = json.load(sys.stdin)
home = task["home"]


class Tensor:
    """What the nodes use of a tensor of PyTorch."""

    def __init__(self, values):
        self.values = values

    shape = property(lambda self: self.values.shape)

    def cpu(self):
        return self

    def numpy(self):
        return self.values

    def __getitem__(self, at):
        return Tensor(self.values[at])

    def __len__(self):
        return len(self.values)


def save_image_path(prefix, folder, width=0, height=0):
    subfolder, name = os.path.dirname(os.path.normpath(prefix)), os.path.basename(os.path.normpath(prefix))
    full = os.path.join(folder, subfolder)
    os.makedirs(full, exist_ok=True)
    used = [int(m.group(1)) for f in os.listdir(full) if (m := re.match(re.escape(name) + r"_(\d+)_", f))]
    return full, name, max(used, default=0) + 1, subfolder, prefix


paths = types.ModuleType("folder_paths")
paths.get_output_directory = lambda: os.path.join(home, "output")
paths.get_user_directory = lambda: os.path.join(home, "user")
paths.get_save_image_path = save_image_path
torch = types.ModuleType("torch")
torch.from_numpy = Tensor
sys.modules.update(folder_paths=paths, torch=torch)


def load(pack):
    name = pack.replace(".", "_x_")  # as ComfyUI does
    spec = importlib.util.spec_from_file_location(name, os.path.join(pack, "__init__.py"), submodule_search_locations=[pack])
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def picture(width, height, seed):
    return numpy.random.default_rng(seed).random((height, width, 3), dtype=numpy.float32)


def run(module, step):
    cls = module.NODE_CLASS_MAPPINGS[step["node"]]
    assert step["node"] in module.NODE_DISPLAY_NAME_MAPPINGS and cls.CATEGORY
    types_of = cls.INPUT_TYPES()
    declared = {**types_of["required"], **types_of.get("optional", {})}
    inputs = dict(step["inputs"])
    for name in list(inputs):
        assert name in declared, "%s has no input %s" % (step["node"], name)
        if declared[name][0] == "IMAGE":
            inputs[name] = Tensor(numpy.stack([picture(*i) for i in inputs[name]]))
    assert not [n for n in types_of["required"] if n not in inputs]
    for name, kind in types_of.get("hidden", {}).items():
        inputs[name] = {"PROMPT": step.get("prompt"), "EXTRA_PNGINFO": step.get("extra_pnginfo")}[kind]
    if hasattr(cls, "VALIDATE_INPUTS"):
        assert cls.VALIDATE_INPUTS(inputs["asset"]) is True
    out = getattr(cls(), cls.FUNCTION)(**inputs)
    result = out["result"] if isinstance(out, dict) else out
    assert len(result) == len(cls.RETURN_TYPES) == len(cls.RETURN_NAMES)
    shown = []
    for value in result:
        if isinstance(value, Tensor):
            eight = (value.values * 255.0).round().astype("uint8")
            value = {"shape": list(value.shape), "sum": hashlib.sha1(eight.tobytes()).hexdigest()}
        shown.append(value)
    return {"result": shown, "ui": out.get("ui") if isinstance(out, dict) else None}


module = load(task["pack"])
uploads = sys.modules[module.__name__ + ".nodes"].queue()
for step in task["steps"]:
    if "drain" in step:
        answer = uploads.drain(step["drain"])
    elif "waiting" in step:
        answer = len(uploads.waiting())
    elif "sum" in step:
        answer = hashlib.sha1((picture(*step["sum"]) * 255.0).clip(0, 255).astype("uint8").tobytes()).hexdigest()
    else:
        try:
            answer = run(module, step)
        except Exception as err:  # as ComfyUI shows it
            answer = {"error": "%s: %s" % (type(err).__name__, err)}
    print(json.dumps(answer), flush=True)
