import { defineConfig } from 'tsup'

export default defineConfig({
  entry: { index: 'src/index.ts', 'sluice-kill-switch': 'src/kill-switch/bin.ts' },
  format: 'esm',
  target: 'node20',
  platform: 'node',
  dts: { entry: { index: 'src/index.ts' } },
  sourcemap: true,
  clean: true,
  tsconfig: 'tsconfig.build.json',
})
