import type { TokenStore } from "./session";

// Settings that the browser keeps, where it does: with storage switched off, to look at it throws already.
export class Kept implements TokenStore {
  private readonly own = new Map<string, string>();

  constructor(private readonly storage: () => TokenStore) {}

  private tried<T>(what: (store: TokenStore) => T, otherwise: T): T {
    try {
      return what(this.storage());
    } catch {
      return otherwise;
    }
  }

  getItem(name: string): string | null {
    return this.own.get(name) ?? this.tried((store) => store.getItem(name), null);
  }

  setItem(name: string, value: string): void {
    this.own.set(name, value);
    this.tried((store) => store.setItem(name, value), undefined);
  }

  removeItem(name: string): void {
    this.own.delete(name);
    this.tried((store) => store.removeItem(name), undefined);
  }
}
