// Command generate writes the generated files of package api/client. It needs no
// part of the product that uses the client, so it runs also while those do not
// compile against the client that is there.
package main

import (
	"log"
	"os"

	"vitrine/op/all"
)

func main() {
	dir, err := os.Getwd() // go generate runs it in the folder of the package
	if err != nil {
		log.Fatal(err)
	}
	if err := all.WriteClient(dir); err != nil {
		log.Fatal(err)
	}
}
