"""Writes one file per kind and independent program, each with the two documents.

Called with a folder that holds prompt.json and workflow.json, and with the paths of
ffmpeg and exiftool. Prints one JSON object a line: the kind, the program, and the
file, or why it was not written.
"""
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

folder, FFMPEG, EXIFTOOL = sys.argv[1:4]
prompt = open(os.path.join(folder, "prompt.json"), encoding="utf-8").read()
workflow = open(os.path.join(folder, "workflow.json"), encoding="utf-8").read()
both = json.dumps({"prompt": prompt, "workflow": json.loads(workflow)})


def run(*command):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def ffmpeg(target, *options, video=True, audio=False, tags=None):
    tags = tags or {"prompt": prompt, "workflow": workflow}
    # Metadata goes through a file: arguments are too short for large graphs.
    meta = target + ".meta"
    with open(meta, "w", encoding="utf-8") as f:
        f.write(";FFMETADATA1\n")
        for key, value in tags.items():
            for c in "\\=;#\n":
                value = value.replace(c, "\\" + c)
            f.write(f"{key}={value}\n")
    source = []
    if video:
        source += ["-f", "lavfi", "-i", "testsrc=size=64x48:rate=8:duration=1"]
    if audio:
        source += ["-f", "lavfi", "-i", "sine=duration=1"]
    n = int(video) + int(audio)
    run(FFMPEG, "-y", "-loglevel", "error", *source, "-i", meta, "-map_metadata", str(n), *options, target)


def av_file(target, container_options, codec):
    import av
    import numpy

    with av.open(target, mode="w", options=container_options) as out:
        out.metadata["prompt"] = prompt
        out.metadata["workflow"] = workflow
        stream = out.add_stream(codec, rate=8)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for _ in range(4):
            for packet in stream.encode(av.VideoFrame.from_ndarray(numpy.zeros((48, 64, 3), dtype=numpy.uint8), format="rgb24")):
                out.mux(packet)
        for packet in stream.encode():
            out.mux(packet)


def picture():
    from PIL import Image

    return Image.new("RGB", (64, 48), (200, 80, 10))


def pillow_png(target, kind):
    from PIL import PngImagePlugin

    info = PngImagePlugin.PngInfo()
    for key, value in (("prompt", prompt), ("workflow", workflow)):
        if kind == "tEXt":
            info.add_text(key, json.dumps(json.loads(value.replace("NaN", "null"))))
        elif kind == "zTXt":
            info.add_text(key, json.dumps(json.loads(value)), zip=True)
        else:
            info.add_itxt(key, value, zip=kind == "iTXt, compressed")
    picture().save(target, pnginfo=info)


def pillow_exif(target, animated=False, **options):
    m = picture()
    exif = m.getexif()
    exif[0x010F] = "workflow:" + json.dumps(json.loads(workflow))
    exif[0x0110] = "prompt:" + json.dumps(json.loads(prompt))
    if animated:
        options.update(save_all=True, append_images=[m.rotate(90), m.rotate(180)], duration=100)
    m.save(target, exif=exif, **options)


def pillow_comment(target):
    m = picture()
    m.save(target, comment=both.encode())


def piexif_jpeg(target):
    import piexif
    import piexif.helper

    comment = piexif.helper.UserComment.dump(both, encoding="unicode")
    picture().save(target, exif=piexif.dump({"Exif": {piexif.ExifIFD.UserComment: comment}}))


def exiftool(target, *tags):
    config = target + ".txt"
    with open(config, "w", encoding="utf-8") as f:
        f.write(both)
    picture_of(target)
    run(EXIFTOOL, "-q", "-m", "-overwrite_original", *[t + "<=" + config for t in tags], target)


def picture_of(target):
    if target.endswith((".mp4", ".mov")):
        run(FFMPEG, "-y", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=8:duration=1", target)
    else:
        picture().save(target)


def heif(target):
    import pillow_heif

    pillow_heif.register_heif_opener()
    pillow_exif(target)


def tagged(target, make):
    """Makes a silent file with ffmpeg and tags it with mutagen."""
    import mutagen

    run(FFMPEG, "-y", "-loglevel", "error", "-f", "lavfi", "-i", "sine=duration=1", target)
    make(mutagen.File(target))


def comments(f):
    f["prompt"], f["workflow"] = [prompt], [workflow]
    f.save()


def id3(encoding):
    def make(f):
        from mutagen.id3 import TXXX

        if f.tags is None:
            f.add_tags()
        f.tags.add(TXXX(encoding=encoding, desc="prompt", text=[prompt]))
        f.tags.add(TXXX(encoding=encoding, desc="workflow", text=[workflow]))
        f.save()

    return make


def freeform(f):
    f["----:com.apple.iTunes:prompt"] = [prompt.encode()]
    f["----:com.apple.iTunes:workflow"] = [workflow.encode()]
    f.save()


def safetensors_file(target):
    import numpy
    from safetensors.numpy import save_file

    save_file({"latent_tensor": numpy.zeros((1, 4), dtype=numpy.float32)}, target, metadata={"prompt": prompt, "workflow": workflow})


def glb(target):
    import pygltflib

    g = pygltflib.GLTF2(asset=pygltflib.Asset(version="2.0", extras={"prompt": prompt, "workflow": workflow}))
    g.set_binary_blob(b"\0\0\0\0")
    g.save_binary(target)


def svg(target):
    import xml.etree.ElementTree as tree

    root = tree.Element("{http://www.w3.org/2000/svg}svg", width="64", height="48")
    meta = tree.SubElement(root, "{http://www.w3.org/2000/svg}metadata")
    tree.SubElement(meta, "prompt").text = prompt
    tree.SubElement(meta, "workflow").text = workflow
    tree.ElementTree(root).write(target, encoding="utf-16", xml_declaration=True)


MOVFLAGS = ("-movflags", "use_metadata_tags")
KINDS = [
    ("PNG tEXt", "Pillow", "a.png", lambda t: pillow_png(t, "tEXt")),
    ("PNG zTXt", "Pillow", "b.png", lambda t: pillow_png(t, "zTXt")),
    ("PNG iTXt", "Pillow", "c.png", lambda t: pillow_png(t, "iTXt")),
    ("PNG iTXt, compressed", "Pillow", "d.png", lambda t: pillow_png(t, "iTXt, compressed")),
    ("PNG Comment", "exiftool", "e.png", lambda t: exiftool(t, "-PNG:Comment")),
    ("PNG EXIF", "exiftool", "f.png", lambda t: exiftool(t, "-EXIF:UserComment")),
    ("JPEG EXIF", "Pillow", "a.jpg", pillow_exif),
    ("JPEG comment", "Pillow", "b.jpg", pillow_comment),
    ("JPEG UserComment", "piexif", "c.jpg", piexif_jpeg),
    ("JPEG UserComment", "exiftool", "d.jpg", lambda t: exiftool(t, "-EXIF:UserComment")),
    ("JPEG XMP", "exiftool", "e.jpg", lambda t: exiftool(t, "-XMP-exif:UserComment")),
    ("JPEG IPTC", "exiftool", "f.jpg", lambda t: exiftool(t, "-IPTC:Caption-Abstract")),
    ("WebP", "Pillow", "a.webp", pillow_exif),
    ("WebP, lossless", "Pillow", "b.webp", lambda t: pillow_exif(t, lossless=True)),
    ("WebP, animated", "Pillow", "c.webp", lambda t: pillow_exif(t, animated=True)),
    ("WebP EXIF", "exiftool", "d.webp", lambda t: exiftool(t, "-EXIF:ImageDescription")),
    ("WebP XMP", "exiftool", "e.webp", lambda t: exiftool(t, "-XMP-dc:Description")),
    ("AVIF", "Pillow", "a.avif", pillow_exif),
    ("AVIF XMP", "exiftool", "b.avif", lambda t: exiftool(t, "-XMP-exif:UserComment")),
    ("HEIF", "pillow-heif", "a.heic", heif),
    ("GIF", "Pillow", "a.gif", pillow_comment),
    ("TIFF", "Pillow", "a.tiff", pillow_exif),
    ("TIFF", "exiftool", "b.tiff", lambda t: exiftool(t, "-EXIF:ImageDescription")),
    ("MP4 keys", "ffmpeg", "a.mp4", lambda t: ffmpeg(t, *MOVFLAGS)),
    ("MP4 keys, movie first", "ffmpeg", "b.mp4", lambda t: ffmpeg(t, "-movflags", "use_metadata_tags+faststart")),
    ("MP4 keys, fragmented", "ffmpeg", "c.mp4", lambda t: ffmpeg(t, "-movflags", "use_metadata_tags+frag_keyframe+empty_moov")),
    ("MP4 comment", "ffmpeg", "d.mp4", lambda t: ffmpeg(t, tags={"comment": both})),
    ("MP4 keys", "PyAV", "e.mp4", lambda t: av_file(t, {"movflags": "use_metadata_tags"}, "mpeg4")),
    ("MP4 keys", "exiftool", "f.mp4", lambda t: exiftool(t, "-Keys:Comment")),
    ("MP4 free-form items", "mutagen", "a.m4a", lambda t: tagged(t, freeform)),
    ("MOV", "ffmpeg", "a.mov", lambda t: ffmpeg(t, *MOVFLAGS)),
    ("MOV comment", "ffmpeg", "b.mov", lambda t: ffmpeg(t, tags={"comment": both})),
    ("WebM", "ffmpeg", "a.webm", lambda t: ffmpeg(t, "-c:v", "libvpx")),
    ("WebM", "PyAV", "b.webm", lambda t: av_file(t, {}, "libvpx-vp9")),
    ("MKV", "ffmpeg", "a.mkv", lambda t: ffmpeg(t)),
    ("MKV comment", "ffmpeg", "b.mkv", lambda t: ffmpeg(t, tags={"comment": both})),
    ("AVI comment", "ffmpeg", "a.avi", lambda t: ffmpeg(t, tags={"comment": both})),
    ("FLAC", "ffmpeg", "a.flac", lambda t: ffmpeg(t, video=False, audio=True)),
    ("FLAC", "mutagen", "b.flac", lambda t: tagged(t, comments)),
    ("Ogg Vorbis", "ffmpeg", "a.ogg", lambda t: ffmpeg(t, "-c:a", "libvorbis", video=False, audio=True)),
    ("Ogg Vorbis", "mutagen", "b.ogg", lambda t: tagged(t, comments)),
    ("Ogg Opus", "ffmpeg", "a.opus", lambda t: ffmpeg(t, video=False, audio=True)),
    ("Ogg Opus", "mutagen", "b.opus", lambda t: tagged(t, comments)),
    ("MP3", "ffmpeg", "a.mp3", lambda t: ffmpeg(t, video=False, audio=True)),
    ("MP3, version 2.3", "ffmpeg", "b.mp3", lambda t: ffmpeg(t, "-id3v2_version", "3", video=False, audio=True)),
    ("MP3, UTF-16", "mutagen", "c.mp3", lambda t: tagged(t, id3(1))),
    ("MP3, UTF-16 big-endian", "mutagen", "d.mp3", lambda t: tagged(t, id3(2))),
    ("MP3, UTF-8", "mutagen", "e.mp3", lambda t: tagged(t, id3(3))),
    ("WAV comment", "ffmpeg", "a.wav", lambda t: ffmpeg(t, video=False, audio=True, tags={"comment": both})),
    ("GLB", "pygltflib", "a.glb", glb),
    ("SVG, UTF-16", "ElementTree", "a.svg", svg),
    ("safetensors", "safetensors", "a.safetensors", safetensors_file),
]


def write(entry):
    kind, program, name, make = entry
    line = {"kind": kind, "program": program, "file": name}
    try:
        make(os.path.join(folder, name))
    except subprocess.CalledProcessError as e:
        line["failed"] = e.stderr.decode(errors="replace")[-300:]
    except Exception as e:
        line["failed"] = repr(e)[:300]
    return line


# Most of the time goes into other processes.
with ThreadPoolExecutor(os.cpu_count()) as threads:
    for line in threads.map(write, KINDS):
        print(json.dumps(line))
