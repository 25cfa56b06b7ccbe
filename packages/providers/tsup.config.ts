import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    'openai/index': 'src/openai/index.ts',
    'anthropic/index': 'src/anthropic/index.ts',
    'google/index': 'src/google/index.ts',
    'ollama/index': 'src/ollama/index.ts',
    'oci/index': 'src/oci/index.ts',
    'behaviour/index': 'src/behaviour/index.ts',
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
