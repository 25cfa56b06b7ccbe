// The engine of one process, held to the suite that a stranger's engine can run too.
import { inlineEngine } from '@sluice/core'
import { describeEngine } from '@sluice/testkit/contracts'

describeEngine('inline', ({ clock, ids }) => inlineEngine({ clock, ids }))
