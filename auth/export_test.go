package auth

// NewSecret makes a well-formed key that nobody stored.
var NewSecret = newSecret
