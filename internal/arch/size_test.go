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
	"api/api_test.go TestAPI_EveryFaultIsAProblemWithItsStatus":                                65,
	"auth/auth_test.go TestAuth_CredentialsInEveryForm":                                        68,
	"automation/rule_schedule_test.go TestRules_ASimulatedWeekFiresEveryDueTimeOfEachRuleOnce": 75,
	"automation/rule_watch_test.go TestWatch_FiresOncePerMatchAndNotForWhatMatchedBefore":      65,
	"backup/restore_test.go TestRestore_RefusesWhatItCannotRestoreAndTouchesNothing":           63,
	"cmd/vitrine/demo.go Run": 99,
	"cmd/vitrine/demo_pipelines_test.go TestDemo_PipelinesFindAndTagTheSampleLibrary":                         69,
	"events/events_test.go TestLog_PositionsAreInTheOrderOfCommitsWithoutGaps":                                67,
	"indexer/build_test.go TestBuild":                                                                         112,
	"indexer/definition_test.go TestDefinition_SecondIndexIsComparedRebuiltAndMadeAnew":                       71,
	"indexer/epoch_test.go TestEpoch_AnIndexThatIsAheadOfARestoredDatabaseIsReplaced":                         61,
	"indexer/rebuild_test.go TestRebuild_AnInterruptedRebuildIsTakenUpOrGivenUp":                              77,
	"indexer/rebuild_test.go TestRebuild_UnderWritesLosesNothingAndNoSearchFails":                             66,
	"indexer/reconcile_test.go TestReconcile_RepairsEveryKindOfDifference":                                    61,
	"indexer/vectors_test.go TestVectors_AnotherConfigurationIsBuiltBehindTheAliasWhileSearchesGoOn":          62,
	"internal/e2e/annotations_test.go TestAnnotations_PrivateOnesAreTheirAuthorsAlone":                        62,
	"internal/e2e/annotations_test.go TestAnnotations_StayWithTheirNodeThroughVersionsAndRereading":           63,
	"internal/e2e/backup_test.go TestRestore_AnIndexThatIsAheadIsCorrectedByItself":                           60,
	"internal/e2e/backup_test.go consistent":                                                                  72,
	"internal/e2e/badinput_test.go TestBadInput_AnsweredWithItsCodeAndFieldAndStoresNothing":                  96,
	"internal/e2e/collections_move_test.go TestCollections_WhileALargeSubtreeMovesItsAssetsAreAlwaysFound":    64,
	"internal/e2e/collections_order_test.go TestCollections_SearchesSortByPosition":                           83,
	"internal/e2e/collections_test.go TestCollections_SearchesFollowEveryChange":                              64,
	"internal/e2e/decode_memory_test.go TestPictures_FiftyRequestsAtOnceStayWithinTheMemoryPromised":          62,
	"internal/e2e/duplicates_test.go TestFindDuplicates_GroupsWhatLooksAlikeAndSuggestsTheBest":               87,
	"internal/e2e/edges_test.go TestLineage_EveryKindOfEdgeIsDrawn":                                           63,
	"internal/e2e/events_command_test.go TestEventsCommand_ListsSubscribersAndTheirDeadLettersAndReplaysThem": 71,
	"internal/e2e/experiments_test.go TestExperiments_EndInARanking":                                          104,
	"internal/e2e/export_kill_test.go TestExport_OfAProcessThatWasKilledIsWrittenByAnother":                   60,
	"internal/e2e/gallery_test.go TestGallery_SearchesFiltersAndRates":                                        68,
	"internal/e2e/import_kill_test.go TestImport_KilledInAFolderInPlaceIsEqualToTheFolder":                    65,
	"internal/e2e/limits_test.go TestTenants_StorageLimitHoldsForEveryWayIn":                                  61,
	"internal/e2e/model_change_test.go TestEmbedding_AnotherModelTakesOverWhileBothProcessesAnswer":           63,
	"internal/e2e/model_tools_test.go TestModels_LibraryAsItsSixToolsShowIt":                                  118,
	"internal/e2e/pipelines_kill_test.go TestPipelines_AKilledRunGoesOnWithEachEffectOnce":                    70,
	"internal/e2e/pipelines_stop_test.go TestPipelines_ACancelledRunKeepsWhatItDidUntilItIsUndone":            63,
	"internal/e2e/prompts_similar_test.go TestPrompts_AreFoundByWhatTheyMean":                                 83,
	"internal/e2e/prompts_test.go TestPrompts_ImagesAreLinkedToTheVersionThatTheyRender":                      64,
	"internal/e2e/publish_test.go TestPublish_APageShowsWhatThePresetKeepsAndNothingElse":                     84,
	"internal/e2e/publish_test.go TestPublish_ThePageOfASmartCollectionShowsWhatItFoundWhenItWasPublished":    70,
	"internal/e2e/reextract_kill_test.go TestReextract_KilledRunGoesOnWhereItWas":                             68,
	"internal/e2e/rest_test.go TestREST_ChangesAreMadeToTheVersionThatIfMatchNames":                           67,
	"internal/e2e/rules_list_test.go TestRules_TriggeredByHandReportEachRuleUntilItIsDisabled":                66,
	"internal/e2e/rules_test.go TestJourney_AnAnalystReviewsNearDuplicatesEveryMonday":                        135,
	"internal/e2e/secure_test.go TestSecureServers_AreReachedByTLSWithALogin":                                 60,
	"internal/e2e/sidecar_test.go TestSidecars_TellWhatAFileDoesNot":                                          62,
	"internal/e2e/store_url_test.go TestStoreAsset_AURLIsStoredWithItsGenerationData":                         84,
	"internal/e2e/tenants_test.go TestTenants_NothingOfAnotherIsEverSeen":                                     89,
	"internal/e2e/trash_test.go TestTrash_APurgeLeavesNothingBehind":                                          60,
	"internal/e2e/trash_test.go TestTrash_StoringAndPurgingTheSameBytesAtOnceLosesNothing":                    71,
	"internal/e2e/tus_test.go TestTus_AnswersAsTheProtocolSays":                                               66,
	"internal/e2e/visibility_test.go TestVisibility_NothingPrivateIsEverSeenByAnotherMember":                  66,
	"internal/e2e/webhooks_test.go TestWebhooks_FromRegistrationToDeletion":                                   82,
	"internal/opcli/opcli_test.go TestParse_ReadsWordsAsTheSchemaSays":                                        83,
	"internal/sample/bytes_test.go TestBytes_GraphsLeadBackToTheTruth":                                        60,
	"internal/sample/bytes_test.go checkWorkflow":                                                             80,
	"media/blob/folder_test.go TestDisk_WritesStopWhileTheFolderIsGone":                                       78,
	"media/extract/container/jpeg_test.go TestJPEG_MetadataIsReadFromEverySegment":                            79,
	"media/extract/formats/infotext_test.go TestInfotext":                                                     74,
	"media/strip/heif.go items":    65,
	"media/strip/jpeg.go planJPEG": 74,
	"media/strip/png.go planPNG":   60,
	"op/search/relax_test.go TestSearch_WhereNothingHasAllWordsSomeAreLeftOutAndNamed":                     70,
	"op/search/suggest_test.go TestSuggest_WhatIsTypedIsCompleted":                                         64,
	"pipeline/naive_test.go drawStage":                                                                     102,
	"prompt/acceptance_test.go TestMatcher_FindsRendersAmongManyOtherPrompts":                              76,
	"service/backups_test.go TestBackups_OneIntoABucketUnderLoadRestoresWhatWasAcknowledged":               67,
	"service/config.go withDefaults":                                                                       60,
	"service/disconnect_test.go TestDisconnects_CountAs499AndLeaveNothingBehind":                           74,
	"service/inplace_events_test.go TestInPlace_AnImportThatEndsEmitsOneEventThoughItWasInterrupted":       61,
	"service/inplace_scan_test.go TestInPlace_AScanFollowsMovesAndMarksWhatIsGone":                         73,
	"service/inplace_test.go TestInPlace_FilesAreServedFromWhereTheyLieAndOnlyWhileTheyAreWhatWasImported": 61,
	"service/links_test.go TestLinks_NothingOfASignedURLCanBeChanged":                                      72,
	"service/own_index_test.go TestOwnIndex_ATenantMovesWithoutAFailedSearchOrALostWrite":                  83,
	"service/service.go assemble":                                                                          77,
	"service/verify_test.go TestScrub_ReadsAllFilesInStepsAndShowsWhatIsDamaged":                           65,
	"store/collections_test.go testHiddenItems":                                                            64,
	"store/journal_test.go TestJournal_OfConcurrentChangesHasEachValueOnceBeforeAndAfter":                  60,
	"store/large_write_test.go TestWrite_ChangesOfAHundredThousandAssetsTakeTheMemoryOfAPage":              62,
	"store/lineage_trash_test.go TestLineageTrash_ChainsInTheIndexFollowTheTrash":                          116,
	"store/models_test.go TestModels_ALinkIsKeptBesideTheFilesWordAndCanBeUndone":                          64,
	"store/models_test.go TestModels_AVersionsTagIsUniqueUntilItsAdditionIsUndone":                         60,
	"store/organize_concurrency_test.go TestExperiments_FiftyEvaluatorsAtOnceLoseAndDoubleNothing":         67,
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
