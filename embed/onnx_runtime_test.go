//go:build onnx && linux && (amd64 || arm64)

package embed

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
)

// ort is the C interface of ONNX Runtime: a table of functions that grows only at
// its end, so a place in it means the same in every version.
type ort struct {
	errorMessage    func(status unsafe.Pointer) string
	createEnv       func(level int32, name string, out *unsafe.Pointer) unsafe.Pointer
	createSession   func(env unsafe.Pointer, model *byte, length uintptr, options unsafe.Pointer, out *unsafe.Pointer) unsafe.Pointer
	run             func(session, options unsafe.Pointer, inputNames **byte, inputs *unsafe.Pointer, inputCount uintptr, outputNames **byte, outputCount uintptr, outputs *unsafe.Pointer) unsafe.Pointer
	createOptions   func(out *unsafe.Pointer) unsafe.Pointer
	setThreads      func(options unsafe.Pointer, threads int32) unsafe.Pointer
	createTensor    func(memory unsafe.Pointer, data unsafe.Pointer, length uintptr, shape *int64, dims uintptr, kind int32, out *unsafe.Pointer) unsafe.Pointer
	tensorData      func(value unsafe.Pointer, out *unsafe.Pointer) unsafe.Pointer
	createMemory    func(allocator, kind int32, out *unsafe.Pointer) unsafe.Pointer
	releaseStatus   func(unsafe.Pointer)
	releaseSession  func(unsafe.Pointer)
	releaseValue    func(unsafe.Pointer)
	releaseOptions  func(unsafe.Pointer)
	env, cpuMemory  unsafe.Pointer
	threadsPerModel int32
}

// The version of the interface that is asked for: any runtime since 1.17 has it,
// which is the first that knows all operators of the graph.
const ortVersion = 17

type ortBase struct{ getAPI, getVersion uintptr }

// openORT loads the shared library. It stays loaded until the process ends.
func openORT(path string) (*ort, error) {
	library, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("loading the ONNX Runtime: %w", err)
	}
	symbol, err := purego.Dlsym(library, "OrtGetApiBase")
	if err != nil {
		return nil, errors.New("the file is a library, but not the ONNX Runtime")
	}
	var getBase func() *ortBase
	purego.RegisterFunc(&getBase, symbol)
	var getAPI func(version uint32) *[101]uintptr
	purego.RegisterFunc(&getAPI, getBase().getAPI)
	table := getAPI(ortVersion)
	if table == nil {
		return nil, fmt.Errorf("the ONNX Runtime is older than 1.%d", ortVersion)
	}
	o := &ort{threadsPerModel: int32(max(1, runtime.GOMAXPROCS(0)-1))}
	for place, function := range map[int]any{
		2: &o.errorMessage, 3: &o.createEnv, 8: &o.createSession, 9: &o.run, 10: &o.createOptions, 24: &o.setThreads,
		49: &o.createTensor, 51: &o.tensorData, 69: &o.createMemory, 93: &o.releaseStatus, 95: &o.releaseSession, 96: &o.releaseValue, 100: &o.releaseOptions,
	} {
		purego.RegisterFunc(function, table[place])
	}
	const warnings, arenaAllocator, defaultMemory = 2, 1, 0
	if err := o.check(o.createEnv(warnings, "vitrine", &o.env)); err != nil {
		return nil, err
	}
	return o, o.check(o.createMemory(arenaAllocator, defaultMemory, &o.cpuMemory))
}

// check turns a status into an error. No status is success.
func (o *ort) check(status unsafe.Pointer) error {
	if status == nil {
		return nil
	}
	defer o.releaseStatus(status)
	return errors.New("ONNX Runtime: " + o.errorMessage(status))
}

// session prepares a model that is given as a file's content.
func (o *ort) session(model []byte) (unsafe.Pointer, error) {
	var options, session unsafe.Pointer
	if err := o.check(o.createOptions(&options)); err != nil {
		return nil, err
	}
	defer o.releaseOptions(options)
	if err := o.check(o.setThreads(options, o.threadsPerModel)); err != nil {
		return nil, err
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&model[0])
	err := o.check(o.createSession(o.env, &model[0], uintptr(len(model)), options, &session))
	return session, err
}

// ortNames are the names of inputs and outputs as C strings.
var ortNames = func() (names [4]*byte) {
	for i, n := range []string{inputIDs, inputPlaces, inputKeep, outputMean} {
		names[i] = &append([]byte(n), 0)[0]
	}
	return names
}()

// means runs a model on texts of equal length: ids and keep are texts × tokens.
func (o *ort) means(session unsafe.Pointer, ids []int64, keep []float32, texts, tokens, hidden int) ([]float32, error) {
	var pin runtime.Pinner
	defer pin.Unpin()
	places := make([]int64, tokens)
	for i := range places {
		places[i] = int64(i)
	}
	var values [3]unsafe.Pointer
	both := []int64{int64(texts), int64(tokens)}
	for i, in := range []struct {
		data  unsafe.Pointer
		bytes int
		shape []int64
		kind  int32
	}{
		{unsafe.Pointer(&ids[0]), 8 * len(ids), both, onnxInt64},
		{unsafe.Pointer(&places[0]), 8 * len(places), both[1:], onnxInt64},
		{unsafe.Pointer(&keep[0]), 4 * len(keep), both, onnxFloat},
	} {
		pin.Pin(in.data)
		if err := o.check(o.createTensor(o.cpuMemory, in.data, uintptr(in.bytes), &in.shape[0], uintptr(len(in.shape)), in.kind, &values[i])); err != nil {
			return nil, err
		}
		defer o.releaseValue(values[i])
	}
	for _, n := range ortNames {
		pin.Pin(n)
	}
	var out, numbers unsafe.Pointer
	if err := o.check(o.run(session, nil, &ortNames[0], &values[0], 3, &ortNames[3], 1, &out)); err != nil {
		return nil, err
	}
	defer o.releaseValue(out)
	if err := o.check(o.tensorData(out, &numbers)); err != nil {
		return nil, err
	}
	return append([]float32(nil), unsafe.Slice((*float32)(numbers), texts*hidden)...), nil
}
