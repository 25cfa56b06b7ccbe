import { gatesProperty } from './gates-property.js'

gatesProperty('second half', 1)
