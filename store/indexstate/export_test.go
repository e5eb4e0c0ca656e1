package indexstate

// DocumentStatements are the statements that read the documents of assets.
func DocumentStatements() []string {
	var list []string
	for _, p := range documentParts {
		list = append(list, p.sql)
	}
	return list
}
