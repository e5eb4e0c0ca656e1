package scene

import "vitrine/internal/sample/draw"

// Palette is a set of colours with the word people use for it. Ramp runs from
// the deepest shade to the lightest tint; Accent is the colour that stands out.
type Palette struct {
	Name, Tag, JA, ZH string
	Ramp              draw.Ramp
	Accent            draw.Colour
}

// Deep, Mid and Light name places on the ramp.
func (p *Palette) Deep() draw.Colour  { return p.Ramp[0] }
func (p *Palette) Mid() draw.Colour   { return p.Ramp[len(p.Ramp)/2] }
func (p *Palette) Light() draw.Colour { return p.Ramp[len(p.Ramp)-1] }

func ramp(hex ...uint32) draw.Ramp {
	out := make(draw.Ramp, len(hex))
	for i, h := range hex {
		out[i] = draw.Hex(h)
	}
	return out
}

var palettes = []Palette{
	{"red", "red", "赤", "红色", ramp(0x1a0308, 0x5c0f1f, 0xb3202f, 0xf0603c, 0xffd9a0), draw.Hex(0xffb347)},
	{"amber", "amber", "琥珀色", "琥珀色", ramp(0x1c0f05, 0x5a2d0a, 0xb8651b, 0xf2a93b, 0xfff0c9), draw.Hex(0x2a9d8f)},
	{"emerald", "emerald green", "緑", "翠绿", ramp(0x03140f, 0x0d3b2e, 0x1f7a54, 0x6cc48a, 0xe9f7d0), draw.Hex(0xf2c14e)},
	{"teal", "teal", "青緑", "青色", ramp(0x04141c, 0x0c3f4f, 0x1b7f8c, 0x63c7c0, 0xeafbee), draw.Hex(0xff7f5c)},
	{"blue", "blue", "青", "蓝色", ramp(0x050a24, 0x122a66, 0x2b5fc0, 0x75aef0, 0xeaf4ff), draw.Hex(0xffc857)},
	{"violet", "violet", "紫", "紫色", ramp(0x12052b, 0x3a1470, 0x7a35c4, 0xc08bf2, 0xfdeaff), draw.Hex(0xffd166)},
	{"pink", "pink", "ピンク", "粉色", ramp(0x240519, 0x6b1250, 0xc52d88, 0xff7fb5, 0xffe6ef), draw.Hex(0x6fe3e1)},
	{"gold", "golden", "金色", "金色", ramp(0x100c08, 0x3a2a15, 0x8f6b2a, 0xd8b45a, 0xfff6dc), draw.Hex(0x1d6f72)},
	{"neon", "neon", "ネオン", "霓虹", ramp(0x07021a, 0x2b0a57, 0xc0208a, 0xff4fa0, 0xd9faff), draw.Hex(0x21e6ff)},
	{"pastel", "pastel", "パステル", "粉彩", ramp(0x4a4668, 0x8f84b0, 0xe0a9c0, 0xfbd3c0, 0xfffaf0), draw.Hex(0x7fc8c2)},
	{"autumn", "autumn", "秋色", "秋色", ramp(0x1d0d07, 0x5b2414, 0xb4511e, 0xe59a2f, 0xf7e3b0), draw.Hex(0x8a2f3c)},
	{"ice", "icy blue", "氷色", "冰蓝", ramp(0x071624, 0x1e4a68, 0x5a9bbd, 0xb4dcec, 0xffffff), draw.Hex(0xe76f8a)},
	{"peacock", "peacock", "孔雀色", "孔雀色", ramp(0x031a23, 0x05505e, 0x0f8f7c, 0xe0b23c, 0xfff4d0), draw.Hex(0xe2572b)},
	{"sunset", "sunset", "夕焼け色", "晚霞色", ramp(0x1b0b3a, 0x5b1e6b, 0xc93f6b, 0xff8c5a, 0xffe3a3), draw.Hex(0x4cc9f0)},
	{"monochrome", "monochrome", "白黒", "黑白", ramp(0x0b0c0f, 0x2b2e35, 0x6b7078, 0xb5b8bd, 0xf7f6f2), draw.Hex(0xd64545)},
	{"mint", "mint", "ミント", "薄荷绿", ramp(0x10302f, 0x2f7268, 0x79c7a6, 0xc9efd6, 0xfdfdf2), draw.Hex(0xff8fa3)},
}

var paletteNames = func() (names []string) {
	for _, p := range palettes {
		names = append(names, p.Name)
	}
	return names
}()

// paletteNamed looks a palette up; an unknown name is a mistake in the kinds
// table, which TestScene_KindsAreSound catches.
func paletteNamed(name string) *Palette {
	for i := range palettes {
		if palettes[i].Name == name {
			return &palettes[i]
		}
	}
	return nil
}
