package arch

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The longest file and the longest function that read well, in lines.
const (
	maxFile     = 434
	maxFunction = 59
)

// longFunctions are longer than maxFunction, with the lines that each may have at most. The list
// only shrinks: nothing is added to it, and what is short enough leaves it.
var longFunctions = map[string]int{
	"api/api_test.go TestAPI_EveryFaultIsAProblemWithItsStatus":                                            65,
	"automation/rule_watch_test.go TestWatch_FiresOncePerMatchAndNotForWhatMatchedBefore":                  65,
	"backup/restore_test.go TestRestore_RefusesWhatItCannotRestoreAndTouchesNothing":                       63,
	"events/events_test.go TestLog_PositionsAreInTheOrderOfCommitsWithoutGaps":                             67,
	"indexer/epoch_test.go TestEpoch_AnIndexThatIsAheadOfARestoredDatabaseIsReplaced":                      61,
	"indexer/reconcile_test.go TestReconcile_RepairsEveryKindOfDifference":                                 61,
	"indexer/vectors_test.go TestVectors_AnotherConfigurationIsBuiltBehindTheAliasWhileSearchesGoOn":       62,
	"internal/e2e/annotations_test.go TestAnnotations_PrivateOnesAreTheirAuthorsAlone":                     62,
	"internal/e2e/annotations_test.go TestAnnotations_StayWithTheirNodeThroughVersionsAndRereading":        63,
	"internal/e2e/backup_test.go TestRestore_AnIndexThatIsAheadIsCorrectedByItself":                        60,
	"internal/e2e/collections_move_test.go TestCollections_WhileALargeSubtreeMovesItsAssetsAreAlwaysFound": 64,
	"internal/e2e/collections_test.go TestCollections_SearchesFollowEveryChange":                           64,
	"internal/e2e/decode_memory_test.go TestPictures_FiftyRequestsAtOnceStayWithinTheMemoryPromised":       62,
	"internal/e2e/edges_test.go TestLineage_EveryKindOfEdgeIsDrawn":                                        63,
	"internal/e2e/export_kill_test.go TestExport_OfAProcessThatWasKilledIsWrittenByAnother":                60,
	"internal/e2e/import_kill_test.go TestImport_KilledInAFolderInPlaceIsEqualToTheFolder":                 65,
	"internal/e2e/limits_test.go TestTenants_StorageLimitHoldsForEveryWayIn":                               61,
	"internal/e2e/model_change_test.go TestEmbedding_AnotherModelTakesOverWhileBothProcessesAnswer":        63,
	"internal/e2e/pipelines_stop_test.go TestPipelines_ACancelledRunKeepsWhatItDidUntilItIsUndone":         63,
	"internal/e2e/prompts_test.go TestPrompts_ImagesAreLinkedToTheVersionThatTheyRender":                   64,
	"internal/e2e/rest_test.go TestREST_ChangesAreMadeToTheVersionThatIfMatchNames":                        67,
	"internal/e2e/rules_list_test.go TestRules_TriggeredByHandReportEachRuleUntilItIsDisabled":             66,
	"internal/e2e/secure_test.go TestSecureServers_AreReachedByTLSWithALogin":                              60,
	"internal/e2e/sidecar_test.go TestSidecars_TellWhatAFileDoesNot":                                       62,
	"internal/e2e/tenants_test.go TestTenants_NothingOfAnotherIsEverSeen":                                  61,
	"internal/e2e/tus_test.go TestTus_AnswersAsTheProtocolSays":                                            66,
	"internal/e2e/visibility_test.go TestVisibility_NothingPrivateIsEverSeenByAnotherMember":               66,
	"internal/e2e/webhooks_test.go TestWebhooks_FromRegistrationToDeletion":                                66,
	"service/backups_test.go TestBackups_OneIntoABucketUnderLoadRestoresWhatWasAcknowledged":               67,
	"service/inplace_events_test.go TestInPlace_AnImportThatEndsEmitsOneEventThoughItWasInterrupted":       61,
	"service/inplace_test.go TestInPlace_FilesAreServedFromWhereTheyLieAndOnlyWhileTheyAreWhatWasImported": 61,
	"service/verify_test.go TestScrub_ReadsAllFilesInStepsAndShowsWhatIsDamaged":                           65,
	"store/collections_test.go testHiddenItems":                                                            64,
	"store/journal_test.go TestJournal_OfConcurrentChangesHasEachValueOnceBeforeAndAfter":                  60,
	"store/large_write_test.go TestWrite_ChangesOfAHundredThousandAssetsTakeTheMemoryOfAPage":              62,
	"store/reextract_test.go TestReextract_ParentsKeepTheirLinksAsLongAsTheFileMeansThem":                  65,
	"store/shares_test.go TestShares_RefuseWhatIsPrivateOrOfAnotherTenantAndEndWhenDeleted":                66,
}

func TestSize_FilesAndFunctionsStayShort(t *testing.T) {
	found := map[string]int{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && path != root && strings.HasPrefix(d.Name(), ".") {
				return filepath.SkipDir
			}
			return err
		}
		if strings.HasSuffix(path, ".gen.go") || !strings.HasSuffix(path, ".go") {
			return nil
		}
		return measure(t, root, path, found)
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, lines := range found {
		if most, known := longFunctions[name]; !known {
			t.Errorf("%s has %d lines; split what has more than %d by idea", name, lines, maxFunction)
		} else if lines > most {
			t.Errorf("%s has %d lines, and may have %d at most; split it by idea", name, lines, most)
		}
	}
	for name := range longFunctions {
		if found[name] == 0 {
			t.Errorf("%s is not too long any more; take it out of the list", name)
		}
	}
}

// measure checks the length of a file, and adds its functions that are too long to found.
func measure(t *testing.T, root, path string, found map[string]int) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	name = filepath.ToSlash(name)
	if lines := bytes.Count(text, []byte("\n")); lines > maxFile {
		t.Errorf("%s has %d lines; split what has more than %d by subject", name, lines, maxFile)
	}
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			if lines := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1; lines > maxFunction {
				found[name+" "+f.Name.Name] = lines
			}
		}
	}
	return nil
}
