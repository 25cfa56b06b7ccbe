import { approvalAnswered } from './approval-answered.js'
import { budgetStop } from './budget-stop.js'
import { killSwitchThrown } from './kill-switch-thrown.js'
import { monthEnd } from './month-end.js'
import type { Story } from './story.js'

/** The stories in their order, after the scenes. */
export const STORIES: readonly Story[] = [budgetStop, approvalAnswered, killSwitchThrown, monthEnd]
