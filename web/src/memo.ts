import { Component, type ComponentChild, type FunctionComponent, h } from "preact"

// memo draws a component again only when one of its properties is another.
export function memo<P extends object>(f: (p: P) => ComponentChild): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const a = this.props as Record<string, unknown>, b = next as Record<string, unknown>
      return Object.keys(b).some((k) => a[k] !== b[k]) || Object.keys(a).some((k) => !(k in b))
    }
    override render(): ComponentChild { return f(this.props) }
  }
  return ((p: P) => h(Memo as never, p)) as FunctionComponent<P>
}
