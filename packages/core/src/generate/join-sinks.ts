import type { EventSink } from './event-sink.js'

/** One sink for two: deltas go only to those that show them. */
export function joinSinks(own: EventSink | undefined, outer: EventSink | undefined): EventSink | undefined {
  if (own === undefined || outer === undefined) return own ?? outer
  return {
    live: own.live || outer.live,
    emit(event) {
      const delta = event.type.endsWith('_delta') || event.type === 'retracted'
      if (own.live || !delta) own.emit(event)
      if (outer.live || !delta) outer.emit(event)
    },
  }
}
