"""PNG files with the texts that ComfyUI writes into its own, of the standard library alone."""

import json
import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _text(key, value):
    """Returns a tEXt chunk. What ComfyUI writes is ASCII: JSON escapes the rest."""
    return _chunk(b"tEXt", key.encode("latin-1") + b"\0" + json.dumps(value).encode("latin-1"))


def encode(pixels, width, height, channels, prompt=None, extra=None, level=4):
    """Returns a PNG of 8 bits. pixels holds rows of RGB or RGBA bytes without gaps."""
    if channels not in (1, 3, 4) or len(pixels) != width * height * channels:
        raise ValueError("%d bytes are no picture of %d x %d with %d channels" % (len(pixels), width, height, channels))
    stride = width * channels
    view, packed = memoryview(pixels), zlib.compressobj(level)
    parts = []
    for y in range(height):
        parts.append(packed.compress(b"\0"))
        parts.append(packed.compress(view[y * stride:(y + 1) * stride]))
    parts.append(packed.flush())
    color = {1: 0, 3: 2, 4: 6}[channels]
    out = [SIGNATURE, _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0))]
    if prompt is not None:
        out.append(_text("prompt", prompt))
    for key, value in (extra or {}).items():
        if 0 < len(key) < 80 and key.isascii() and key.isprintable():
            out.append(_text(key, value))
    out += [_chunk(b"IDAT", b"".join(parts)), _chunk(b"IEND", b"")]
    return b"".join(out)
