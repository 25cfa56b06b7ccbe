/** Stands in the records of runs that are started in nobody's name. */
export const SERVICE_USER = 'night-job'
