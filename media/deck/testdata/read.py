"""Reads PDF documents with PDFium and qpdf, and writes what they hold as JSON, one document a line.

Usage: read.py FILE...
"""
import json
import sys

import pdfua
import pikepdf
import pypdfium2
from pypdfium2 import raw


def texts(node, key, out):
    """Collects an entry of all elements of the structure."""
    if isinstance(node, pikepdf.Array):
        for kid in node:
            texts(kid, key, out)
    elif isinstance(node, pikepdf.Dictionary) and "/S" in node:
        if key in node:
            out.append(str(node[key]))
        if "/K" in node:
            texts(node["/K"], key, out)


def structure(path):
    with pikepdf.open(path) as doc:
        root = doc.Root
        named = str(doc.docinfo["/Title"])  # opening the metadata of a document without any takes it away
        tags, alts, links, actions = [], [], [], []
        texts(root.StructTreeRoot.K, "/S", tags)
        texts(root.StructTreeRoot.K, "/Alt", alts)
        for page in doc.pages:
            for a in page.get("/Annots", []):
                links.append(bytes(a.A.URI).decode())
        for o in doc.objects:
            if isinstance(o, pikepdf.Dictionary) and ("/JS" in o or "/S" in o and o["/S"] in ("/JavaScript", "/Launch", "/GoToR", "/SubmitForm", "/ImportData")):
                actions.append(str(o))
        with doc.open_outline() as outline:
            entries = [[e.title, [k.title for k in e.children]] for e in outline.root]
        with doc.open_metadata() as meta:
            title = meta.get("dc:title")
        return {"problems": doc.check_pdf_syntax(), "tags": sorted(set(tags)), "alts": alts, "links": links, "actions": actions, "outline": entries,
                "lang": str(root.Lang), "title": named, "xmp_title": title, "open": "/OpenAction" in root or "/AA" in root or "/Names" in root,
                "images": sum(1 for o in doc.objects if isinstance(o, pikepdf.Stream) and o.get("/Subtype") == "/Image"),
                "fonts": sorted({str(o.BaseFont) for o in doc.objects if isinstance(o, pikepdf.Dictionary) and o.get("/Type") == "/Font" and "/DescendantFonts" in o})}


def pages(path, folder):
    doc = pypdfium2.PdfDocument(path)
    out = []
    for i, page in enumerate(doc):
        width, height = page.get_size()
        pictures = []
        for o in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE]):
            left, bottom, right, top = o.get_bounds()
            pictures.append([left, height - top, right, height - bottom])
        name = f"{folder}/{i}.png" if folder else ""
        if folder:
            page.render(scale=1).to_pil().convert("RGB").save(name)
        out.append({"width": width, "height": height, "text": page.get_textpage().get_text_bounded(), "pictures": pictures, "drawn": name})
    return out


def accessible(path):
    """What a checker of PDF/UA finds, but for the claim to conform to it, which is not made."""
    found = []
    for f in pdfua.validate(path).findings:
        if f.rule_id != "UA-28-004":
            found.append(f"{f.rule_id}: {f.message}")
    return found


for argument in sys.argv[1:]:
    path, _, folder = argument.partition("=")
    print(json.dumps({**structure(path), "pages": pages(path, folder), "accessible": accessible(path)}))
