/** Images that providers take, whatever their size (G-20). */
export const IMAGE_TYPES: readonly string[] = Object.freeze(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

export const PDF_TYPE = 'application/pdf'
