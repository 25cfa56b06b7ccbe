// fakes: time, ids, logs
export type { CapturedLogger, LogLevel, LogLine } from './captured-logger.js'
export { capturedLogger } from './captured-logger.js'
export type { TestkitErrorCode, TestkitErrorRow } from './error-codes.js'
export { TESTKIT_ERROR_CODES } from './error-codes.js'
export { fakeIds } from './fake-ids.js'
export type { Deferred } from './time/deferred.js'
export { deferred } from './time/deferred.js'
export { drain } from './time/drain.js'
export type { FakeClock, FakeClockOptions } from './time/fake-clock.js'
export { fakeClock } from './time/fake-clock.js'
export type { Latch } from './time/latch.js'
export { latch } from './time/latch.js'
// scripted models
export type { EmulatedProtocol, ProviderRow } from './script/provider-rows.js'
export { PROVIDER_ROWS } from './script/provider-rows.js'
export type { ReplyBuilder } from './script/reply.js'
export { reply } from './script/reply.js'
export type { Script, ScriptRule, UserPattern } from './script/script.js'
export { lastUserText, on } from './script/script.js'
export type { ScriptStep, StepCall, StepFunction } from './script/script-step.js'
export { hang, held, providerError, rawReply, repeat, throwing } from './script/script-step.js'
export type { ScriptedCall, ScriptedProvider, ScriptedProviderOptions } from './script/scripted-provider.js'
export { scriptedProvider } from './script/scripted-provider.js'
export type {
  ReplyExtras,
  ScriptedPart,
  ScriptedReply,
  ScriptedToolCall,
  StreamShape,
} from './script/scripted-reply.js'
export { SCRIPTED_USAGE } from './script/scripted-reply.js'
// fixtures on the wire
export type { Exchange, Fixture, FixtureEvent, FixtureRequest, FixtureResponse } from './replay/fixture.js'
export type { FixtureName, FixtureProtocol, FixtureSituation, FixtureSource } from './replay/load-fixture.js'
export { FIXTURE_PROTOCOLS, FIXTURE_SITUATIONS, loadFixture } from './replay/load-fixture.js'
export type { Replay, ReplayOptions } from './replay/replay.js'
export { replay } from './replay/replay.js'
export type { MatchOptions, ReplayedRequest } from './replay/replay-router.js'
export type { ReplayServer } from './replay/replay-server.js'
export { createReplayServer } from './replay/replay-server.js'
// recorded traffic of providers
export type { Cuts } from './recordings/exchange-fetch.js'
export { exchangeFetch } from './recordings/exchange-fetch.js'
export type { ReadOptions } from './recordings/neutral-request.js'
export { neutralRequest } from './recordings/neutral-request.js'
export type { RecordedExchange, RecordedResponse, Recording } from './recordings/recording.js'
export { readRecording, readRecordings, responseText } from './recordings/recording.js'
export type { Answer, ExchangeServer, ReceivedRequest } from './recordings/serve-exchanges.js'
export { serveExchanges } from './recordings/serve-exchanges.js'
// hooks, asked with no run
export type { CallGateOptions, GatePlugin, GateResult } from './gates/call-gate.js'
export { callGate } from './gates/call-gate.js'
export type { ExpectedVeto } from './gates/expect-veto.js'
export { expectVeto } from './gates/expect-veto.js'
export type { Failure, FailingPluginOptions } from './plugins/failing-plugin.js'
export { FAILURES, failingPlugin } from './plugins/failing-plugin.js'
export type { HookRecorder, RecordedHook, RecordingPluginOptions } from './plugins/recording-plugin.js'
export { recordingPlugin } from './plugins/recording-plugin.js'
// what a run did
export type { CalledTool } from './matchers/called-tools.js'
export { calledTools } from './matchers/called-tools.js'
// stores that fail on purpose
export type { FailingStore, StoreFailure, StoreFault, StoreMethod } from './failing-store.js'
export { failingStore } from './failing-store.js'
