export { createLowdbStore, type LowdbStoreOptions } from './create-lowdb-store.js'
export { machineFiles, type OpenFile, type OpenMode, type StoreFiles } from './store-files.js'
