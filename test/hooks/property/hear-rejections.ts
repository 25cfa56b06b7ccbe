/** Hears rejections that nobody handled, so that a property can tell which composition left one. */
export function hearRejections() {
  let heard: unknown[] = []
  const hear = (reason: unknown): void => void heard.push(reason)
  return {
    listen: () => void process.on('unhandledRejection', hear),
    stop: () => void process.off('unhandledRejection', hear),
    take: (): readonly unknown[] => {
      const taken = heard
      heard = []
      return taken
    },
  }
}
