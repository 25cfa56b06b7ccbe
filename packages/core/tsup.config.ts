import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    'store/lowdb/index': 'src/store/lowdb/index.ts',
  },
  format: 'esm',
  target: 'node20',
  platform: 'node',
  dts: true,
  sourcemap: true,
  clean: true,
  splitting: true,
  tsconfig: 'tsconfig.build.json',
})
