package embed

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// tensors reads a file in the safetensors format: eight bytes with the length of
// a JSON header, the header, then the numbers, little endian, without gaps.
type tensors struct {
	file io.ReaderAt
	base int64 // where the numbers begin
	size int64 // bytes of the file
	list map[string]tensorInfo
}

type tensorInfo struct {
	Type    string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// maxHeader is what the format allows.
const maxHeader = 100_000_000

var errTensors = errors.New("the file is not in the safetensors format")

func openTensors(f *os.File) (*tensors, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return readTensors(f, info.Size())
}

func readTensors(file io.ReaderAt, size int64) (*tensors, error) {
	var length [8]byte
	if _, err := file.ReadAt(length[:], 0); err != nil {
		return nil, fmt.Errorf("%w: %w", errTensors, err)
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader || int64(n) > size-8 {
		return nil, errTensors
	}
	header := make([]byte, n)
	if _, err := file.ReadAt(header, 8); err != nil {
		return nil, fmt.Errorf("%w: %w", errTensors, err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(header, &raw); err != nil {
		return nil, fmt.Errorf("%w: %w", errTensors, err)
	}
	t := &tensors{file: file, base: 8 + int64(n), size: size, list: map[string]tensorInfo{}}
	for name, value := range raw {
		var info tensorInfo
		if name == "__metadata__" {
			continue
		}
		if err := json.Unmarshal(value, &info); err != nil {
			return nil, fmt.Errorf("%w: %w", errTensors, err)
		}
		t.list[name] = info
	}
	return t, nil
}

// float32s returns the numbers of a tensor of the given shape, of the types F32,
// F16 or BF16.
func (t *tensors) float32s(name string, shape ...int) ([]float32, error) {
	info, ok := t.list[name]
	if !ok {
		return nil, fmt.Errorf("the model has no tensor %q", name)
	}
	count := 1
	same := len(info.Shape) == len(shape)
	for i, n := range shape {
		same = same && info.Shape[i] == n
		count *= n
	}
	if !same {
		return nil, fmt.Errorf("the tensor %q has the shape %v instead of %v", name, info.Shape, shape)
	}
	width := map[string]int{"F32": 4, "F16": 2, "BF16": 2}[info.Type]
	if width == 0 {
		return nil, fmt.Errorf("the tensor %q is of the type %.8s; F32, F16 and BF16 can be read", name, info.Type)
	}
	from, to := info.Offsets[0], info.Offsets[1]
	if from < 0 || to-from != int64(count)*int64(width) || to > t.size-t.base {
		return nil, errTensors
	}
	raw := make([]byte, to-from)
	if _, err := t.file.ReadAt(raw, t.base+from); err != nil {
		return nil, fmt.Errorf("reading the tensor %q: %w", name, err)
	}
	return decode(raw, info.Type, count), nil
}

func decode(raw []byte, kind string, count int) []float32 {
	out := make([]float32, count)
	for i := range out {
		switch kind {
		case "F32":
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		case "BF16":
			out[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(raw[2*i:])) << 16)
		case "F16":
			out[i] = half(binary.LittleEndian.Uint16(raw[2*i:]))
		}
	}
	return out
}

// half widens a number of IEEE 754 binary16.
func half(h uint16) float32 {
	sign, exponent, fraction := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exponent {
	case 0:
		v := float32(fraction) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 31:
		return math.Float32frombits(sign | 255<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
