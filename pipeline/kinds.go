package pipeline

// The types of stages by category, in the order of documents.
var (
	selectKinds    = []*Kind{kindSearch, kindCollection, kindIDs, kindDiff}
	filterKinds    = []*Kind{kindWhere, kindSort, kindLimit, kindDeduplicate, kindSample}
	transformKinds = []*Kind{kindSetTag, kindRemoveTag, kindSetField, kindRegexReplace, kindCompute, kindSetVisibility, kindSetOwner, kindEnrich, kindApprove}
	actionKinds    = []*Kind{kindAddToCollection, kindMove, kindDelete, kindArchive}
	outputKinds    = []*Kind{kindExport, kindNotify, kindTee}
	summarizeKinds = []*Kind{kindCount, kindGroupBy, kindStats, kindHistogram}
)
