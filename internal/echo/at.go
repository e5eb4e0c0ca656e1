package echo

// At names a server that runs already, so that its MCP endpoint can be spoken to.
func At(url string) *Server { return &Server{URL: url} }
