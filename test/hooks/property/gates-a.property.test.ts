import { gatesProperty } from './gates-property.js'

gatesProperty('first half', 0)
