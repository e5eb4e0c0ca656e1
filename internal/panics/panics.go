// Package panics keeps a panic to the request or the item that caused it.
//
// In comes a function; out comes its error, or the panic with its stack as one. A
// panic in a goroutine that nobody recovers from ends the process, and a message or
// a row that causes one would end every process that reads it after a restart. Work
// that runs over what others wrote, and goroutines beside a request, go through Try.
package panics

import (
	"fmt"
	"runtime/debug"
)

// Error is a panic as an error. It is a defect of the program.
type Error struct {
	Value any // what was passed to panic
	Stack []byte
}

// Error returns the value and the stack, for logs. Nothing of it is for users.
func (e *Error) Error() string { return fmt.Sprintf("panic: %v\n%s", e.Value, e.Stack) }

// Unwrap returns the value where it is an error, such as a runtime.Error.
func (e *Error) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Try calls f and returns its error, or an *Error when it panics.
func Try(f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &Error{Value: value, Stack: debug.Stack()}
		}
	}()
	return f()
}
