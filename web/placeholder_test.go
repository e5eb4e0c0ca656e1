package web

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/internal/testenv"
)

// drawsAsPublished runs the page's function on a canvas of its own and compares the pixels
// with those that the package of the format's author makes of random pictures.
const drawsAsPublished = `
import { readFileSync } from 'node:fs'
const published = await import(process.argv[1])
const page = readFileSync('static/app.js', 'utf8')
const start = page.indexOf('function placeholder(')
const source = page.slice(start, page.indexOf('\n}\n', start) + 2)
const make = (_, text, attributes) => ({ ...attributes, getContext: () => ({
  createImageData: (w, h) => ({ data: new Uint8ClampedArray(4 * w * h) }),
  putImageData(pixels) { make.drawn = pixels.data },
}) })
const placeholder = new Function('make', source + '; return placeholder')(make)
let seed = 12345, worst = 0, pictures = 0
const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648
for (const [w, h] of [[10, 10], [100, 60], [60, 100], [100, 9], [3, 100], [1, 1]]) {
  const rgba = Uint8Array.from({ length: 4 * w * h }, (_, i) => i % 4 == 3 ? 255 : 256 * random())
  const hash = published.rgbaToThumbHash(w, h, rgba)
  const canvas = placeholder(Buffer.from(hash).toString('base64'))
  const want = published.thumbHashToRGBA(hash)
  if (canvas.width !== want.w || canvas.height !== want.h) throw new Error(canvas.width + 'x' + canvas.height + ', want ' + want.w + 'x' + want.h)
  want.rgba.forEach((v, i) => { worst = Math.max(worst, Math.abs(v - make.drawn[i])) })
  pictures++
}
console.log(pictures, worst)
if (worst > 1) process.exit(1)`

func TestWeb_PlaceholdersAreDrawnAsThePublishedDecoderDoes(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), testenv.Tool(t, "node"), "--input-type=module", "-e", drawsAsPublished, "--", filepath.Join(testenv.Tool(t, "thumbhash"), "thumbhash.js"))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "6 ") {
		t.Fatalf("%v: %s", err, out)
	}
}
