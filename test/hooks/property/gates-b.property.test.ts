import { gatesProperty } from './gates-property.js'

// holds H-19, H-20, H-32, CASE-01, CASE-02, CASE-03, CASE-05
gatesProperty('second half', 1)
