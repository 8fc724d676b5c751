import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";

import { isDark } from "../frame/colours";

/** Conditions of a drawing beside its numbers: size, pixels, colours. */
export interface Surface {
  width: number; // CSS pixels
  ratio: number; // pixels to one of them
  dark: boolean;
}

/** An element, and its surface as it changes: another width, another zoom or screen, other colours. */
export function useSurface() {
  const home = useRef<HTMLDivElement>(null);
  const size = useSignal({ width: 0, ratio: devicePixelRatio });
  useEffect(() => {
    const place = home.current;
    if (place === null) {
      return undefined;
    }
    const look = (): void => {
      const next = { width: place.clientWidth, ratio: devicePixelRatio };
      if (next.width !== size.peek().width || next.ratio !== size.peek().ratio) {
        size.value = next;
      }
    };
    const watch = new ResizeObserver(look);
    watch.observe(place);
    addEventListener("resize", look); // of another zoom, too
    look();
    return () => {
      watch.disconnect();
      removeEventListener("resize", look);
    };
  }, []);
  return { home, surface: { ...size.value, dark: isDark.value } satisfies Surface };
}
