package strip

import (
	"encoding/binary"
	"slices"
)

// iccTags are the tags of a color profile by which colors are computed. The others hold texts: its name and rights,
// how it was measured, the settings of a screen, and what its maker saw fit.
var iccTags = []string{"rXYZ", "gXYZ", "bXYZ", "wtpt", "bkpt", "lumi", "rTRC", "gTRC", "bTRC", "kTRC", "chad", "chrm", "cicp",
	"A2B0", "A2B1", "A2B2", "B2A0", "B2A1", "B2A2", "D2B0", "D2B1", "D2B2", "D2B3", "B2D0", "B2D1", "B2D2", "B2D3", "gamt", "pre0", "pre1", "pre2"}

// iccName is what a profile is called, which it must be by its format, in place of its name.
const iccName = "Color profile"

const iccHead = 128 // bytes of a profile before its table of tags

// cleanProfile returns a profile with the same colors and no texts; nil where it cannot be read. Cleaning it once more changes
// nothing.
func cleanProfile(icc []byte) []byte {
	if len(icc) < iccHead+4 {
		return nil
	}
	count := int(binary.BigEndian.Uint32(icc[iccHead:]))
	if count < 1 || count > 200 || iccHead+4+12*count > len(icc) {
		return nil
	}
	type entry struct {
		kind string
		data []byte
	}
	kept := []entry{{"desc", iccText(icc[8], "desc")}, {"cprt", iccText(icc[8], "text")}}
	for i := range count {
		e := icc[iccHead+4+12*i:]
		kind, off, n := string(e[:4]), int64(binary.BigEndian.Uint32(e[4:])), int64(binary.BigEndian.Uint32(e[8:]))
		if !slices.Contains(iccTags, kind) || slices.ContainsFunc(kept, func(k entry) bool { return k.kind == kind }) {
			continue
		}
		if off < iccHead || n < 8 || off+n > int64(len(icc)) {
			return nil
		}
		if data := iccData(icc[off : off+n]); data != nil {
			kept = append(kept, entry{kind, data})
		}
	}
	out := iccHeader(icc)
	out = binary.BigEndian.AppendUint32(out, uint32(len(kept)))
	out = append(out, make([]byte, 12*len(kept))...)
	placed := map[string]int{} // tags may share what they hold
	for i, k := range kept {
		at, ok := placed[string(k.data)]
		if !ok {
			at = len(out)
			placed[string(k.data)] = at
			out = append(out, k.data...)
			out = append(out, make([]byte, -len(out)&3)...)
		}
		e := out[iccHead+4+12*i:]
		copy(e, k.kind)
		binary.BigEndian.PutUint32(e[4:], uint32(at))
		binary.BigEndian.PutUint32(e[8:], uint32(len(k.data)))
	}
	binary.BigEndian.PutUint32(out, uint32(len(out)))
	return out
}

// iccHeader returns the head of a profile without who made it, with what, when, and without its checksum.
func iccHeader(icc []byte) []byte {
	out := slices.Clone(icc[:iccHead])
	for _, at := range [][2]int{{4, 8}, {24, 36}, {40, 44}, {48, 56}, {80, iccHead}} {
		clear(out[at[0]:at[1]])
	}
	return out
}

// iccData returns the data of a tag without what stands behind it; nil where it is of a kind that no colors are computed by.
func iccData(data []byte) []byte {
	n := int64(len(data))
	number := func(at, size int) int64 {
		if at+size > len(data) {
			return 1 << 40
		}
		return (&numbers{data: data, at: at}).next(size)
	}
	switch string(data[:4]) {
	case "XYZ ":
		n = 20
	case "cicp":
		n = 12
	case "curv":
		n = 12 + 2*number(8, 4)
	case "sf32":
		n = min(n, 44) // a matrix of three by three
	case "para":
		sizes := []int64{4, 12, 16, 20, 28}
		kind := number(8, 2)
		if kind >= int64(len(sizes)) {
			return nil
		}
		n = 12 + sizes[kind]
	case "chrm":
		n = 12 + 8*number(8, 2)
	case "mft1", "mft2":
		n = iccTable(data)
	case "mAB ", "mBA ", "mpet":
	default:
		return nil
	}
	if n < 8 || n > int64(len(data)) {
		return nil
	}
	out := slices.Clone(data[:n])
	clear(out[4:8])
	return out
}

// iccTable returns how long a table of colors is (lut8Type, lut16Type), or 0.
func iccTable(data []byte) int64 {
	if len(data) < 52 {
		return 0
	}
	in, to, grid := int64(data[8]), int64(data[9]), int64(data[10])
	points := to
	for range in {
		if points *= grid; points > maxProfile {
			return 0
		}
	}
	if data[3] == '1' {
		return 48 + 256*in + points + 256*to
	}
	before, after := int64(binary.BigEndian.Uint16(data[48:])), int64(binary.BigEndian.Uint16(data[50:]))
	return 52 + 2*(before*in+points+after*to)
}

// iccText returns a text that every profile must have, in the type that its version has.
func iccText(version byte, kind string) []byte {
	if version >= 4 {
		b := []byte("mluc\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0cenUS")
		b = binary.BigEndian.AppendUint32(b, uint32(2*len(iccName)))
		b = binary.BigEndian.AppendUint32(b, 28)
		for _, c := range iccName {
			b = append(b, 0, byte(c))
		}
		return b
	}
	b := append([]byte(kind), 0, 0, 0, 0)
	if kind == "text" {
		return append(append(b, iccName...), 0)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(iccName)+1))
	b = append(append(b, iccName...), 0)
	return append(b, make([]byte, 4+4+2+1+67)...)
}

// cleanColors overwrites a description of colors (colr) of a file of boxes in its place: its profile has no texts, and
// zeros behind it.
func cleanColors(body []byte) {
	if len(body) < 4 || string(body[:4]) != "prof" && string(body[:4]) != "rICC" {
		return
	}
	data := body[4:]
	icc := profile(data) // shares nothing with it
	if len(icc) > len(data) {
		icc = nil
	}
	clear(data[copy(data, icc):])
}
