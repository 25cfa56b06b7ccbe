/**
 * More than any image costs at OpenAI, whatever its size: the dearest published rule (gpt-4o-mini, high detail: 2 833 and
 * 5 667 for each of at most 8 tiles) gives 48 169. PDF files have no such bound: their text counts, and their pages.
 * @see https://platform.openai.com/docs/guides/images-vision#calculating-costs
 */
export const IMAGE_TOKENS_AT_MOST = 50_000
