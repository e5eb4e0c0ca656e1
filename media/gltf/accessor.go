package gltf

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// components is how many numbers an element of a type has.
var components = map[string]int{"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}

// sizes is how many bytes a number of a type has.
var sizes = map[int]int{5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}

// blockBytes is how much of the file is read at once.
const blockBytes = 1 << 18

// section returns the bytes of a view.
func (f *File) section(i int) (*io.SectionReader, error) {
	v := at(f.doc.views, i)
	switch {
	case v == nil:
		return nil, fmt.Errorf("%w: it names data that it does not have", errDamaged)
	case v.Buffer != 0 || f.length == 0:
		return nil, fmt.Errorf("%w: its data lies in another file", ErrNothing)
	case v.ByteOffset < 0 || v.ByteLength < 0 || v.ByteOffset > f.length || v.ByteLength > f.length-v.ByteOffset:
		return nil, fmt.Errorf("%w: it ends within its data", errDamaged)
	}
	return io.NewSectionReader(f.r, f.binary+v.ByteOffset, v.ByteLength), nil
}

// floats calls see with every element of an accessor: n numbers, of which normalized ones are in 0…1 or
// -1…1; at most limit elements. The numbers are only good during the call.
func (f *File) floats(i, n int, limit int64, see func(i int, v []float64)) error {
	a := at(f.doc.accessors, i)
	if a == nil {
		return fmt.Errorf("%w: it names numbers that it does not have", errDamaged)
	}
	have, size := components[a.Type], sizes[a.Component]
	switch {
	case a.BufferView == nil || len(a.Sparse) > 0:
		return fmt.Errorf("%w: it has sparse numbers", ErrNothing)
	case have < n || size == 0 || a.Count < 0 || a.ByteOffset < 0:
		return fmt.Errorf("%w: numbers of the type %s are not what it uses them for", errDamaged, short(a.Type))
	}
	data, err := f.section(*a.BufferView)
	if err != nil {
		return err
	}
	element := int64(have * size)
	stride := f.doc.views[*a.BufferView].ByteStride
	if stride == 0 {
		stride = element
	}
	if stride < element || stride > 252 && stride != element || a.Count > 0 && (a.Count-1) > (data.Size()-a.ByteOffset-element)/stride {
		return fmt.Errorf("%w: it ends within its numbers", errDamaged)
	}
	return elements(data, a, min(a.Count, limit), stride, n, see)
}

// elements reads the elements of an accessor in blocks.
func elements(data *io.SectionReader, a *accessor, total, stride int64, n int, see func(int, []float64)) error {
	size := sizes[a.Component]
	block := make([]byte, max(stride, blockBytes/stride*stride))
	values := make([]float64, n)
	for done := int64(0); done < total; {
		some := min(total-done, int64(len(block))/stride)
		bytes := block[:(some-1)*stride+int64(n*size)]
		if _, err := data.ReadAt(bytes, a.ByteOffset+done*stride); err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		for e := range some {
			for k := range values {
				values[k] = number(bytes[e*stride+int64(k*size):], a.Component, a.Normalized)
			}
			see(int(done+e), values)
		}
		done += some
	}
	return nil
}

// number reads one number.
func number(b []byte, component int, normalized bool) float64 {
	var v, most float64
	switch component {
	case 5120:
		v, most = float64(int8(b[0])), 127
	case 5121:
		v, most = float64(b[0]), 255
	case 5122:
		v, most = float64(int16(binary.LittleEndian.Uint16(b))), 32767
	case 5123:
		v, most = float64(binary.LittleEndian.Uint16(b)), 65535
	case 5125:
		return float64(binary.LittleEndian.Uint32(b))
	default:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	if normalized {
		return max(v/most, -1)
	}
	return v
}
