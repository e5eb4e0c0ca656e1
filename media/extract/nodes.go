package extract

import "vitrine/media/extract/comfy"

// NodesFolder is the folder beside the data in which people keep files of node
// classes of their own.
const NodesFolder = "nodes.d"

// LoadNodeClasses reads the class files of a folder, which add to what is known of
// ComfyUI's node classes. It is called once, before files are read. A folder that is
// missing is no error; files that cannot be used are named in it and left out.
func LoadNodeClasses(dir string) error { return comfy.LoadClasses(dir) }

// NodeClassFile turns what a ComfyUI gives at /object_info into a class file, and
// returns the number of its classes.
func NodeClassFile(objectInfo []byte, about string) (file []byte, classes int, err error) {
	f, err := comfy.FromObjectInfo(objectInfo, about)
	if err != nil {
		return nil, 0, err
	}
	file, err = f.Encode()
	return file, len(f.Nodes), err
}
