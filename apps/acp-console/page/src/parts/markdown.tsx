// An agent's Markdown as elements of the page. The library reads it; which elements there can be is decided here. No HTML, no images from elsewhere.
// The compiler checks that the switch is exhaustive, which the lint rule does not see.
// oxlint-disable typescript/consistent-return
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { parser, RuleType, type MarkdownToJSX } from "markdown-to-jsx/markdown";
import { Visible } from "./visible.tsx";

type Node = MarkdownToJSX.ASTNode;

const deepest = 30;
/** Below the page's own headings. */
const headings = ["h3", "h4", "h5", "h6"] as const;
const formats = ["strong", "em", "del", "mark"] as const;

export function Markdown({ text }: { text: string }) {
  const nodes = useMemo(() => parsed(text), [text]);
  if (nodes === undefined) return <Visible text={text} use="lines" />;
  return <>{nodes.map((node, at) => render(node, at, 0))}</>;
}

function parsed(text: string): Node[] | undefined {
  try {
    return parser(text, { disableParsingRawHTML: true, disableFrontmatter: true });
  } catch {
    return undefined; // nested beyond what the parser can take: it is shown as it is
  }
}

function render(node: Node, key: number, depth: number): ComponentChildren {
  if (depth > deepest) return "…";
  const inside = (nodes: readonly Node[]) => nodes.map((each, at) => render(each, at, depth + 1));
  switch (node.type) {
    case RuleType.text:
      return <Visible text={node.text} use="prose" key={key} />;
    case RuleType.paragraph:
      return <p key={key}>{inside(node.children)}</p>;
    case RuleType.heading: {
      const Heading = headings[node.level - 1] ?? "h6";
      return <Heading key={key}>{inside(node.children)}</Heading>;
    }
    case RuleType.textFormatted: {
      const Format = formats.find((tag) => tag === node.tag) ?? "span";
      return <Format key={key}>{inside(node.children)}</Format>;
    }
    case RuleType.codeInline:
      return (
        <code key={key}>
          <Visible text={node.text} use="lines" />
        </code>
      );
    case RuleType.codeBlock:
      return (
        <pre key={key} tabIndex={0}>
          <code>
            <Visible text={node.text} use="lines" />
          </code>
        </pre>
      );
    case RuleType.link:
      return <Link target={node.target} children={inside(node.children)} key={key} />;
    case RuleType.image:
      return <Link target={node.target} children={`Image: ${node.alt ?? ""}`} key={key} />;
    case RuleType.blockQuote:
      return <blockquote key={key}>{inside(node.children)}</blockquote>;
    case RuleType.orderedList:
      return (
        <ol start={node.start ?? 1} key={key}>
          {items(node.items, inside)}
        </ol>
      );
    case RuleType.unorderedList:
      return <ul key={key}>{items(node.items, inside)}</ul>;
    case RuleType.gfmTask:
      return (
        <input
          type="checkbox"
          checked={node.completed}
          disabled
          aria-label={node.completed ? "done" : "to do"}
          key={key}
        />
      );
    case RuleType.table:
      return <Table node={node} inside={inside} key={key} />;
    case RuleType.breakLine:
      return <br key={key} />;
    case RuleType.breakThematic:
      return <hr key={key} />;
    case RuleType.footnoteReference:
      return <sup key={key}>{node.text}</sup>;
    case RuleType.frontmatter:
    case RuleType.htmlComment:
      return <Visible text={node.text} use="lines" key={key} />;
    case RuleType.htmlBlock:
    case RuleType.htmlSelfClosing:
    case RuleType.footnote:
    case RuleType.ref:
    case RuleType.refCollection:
      return null;
  }
}

const items = (list: readonly Node[][], inside: (nodes: readonly Node[]) => ComponentChildren) =>
  list.map((nodes, at) => <li key={at}>{inside(nodes)}</li>);

interface TableProps {
  readonly node: MarkdownToJSX.TableNode;
  readonly inside: (nodes: readonly Node[]) => ComponentChildren;
}

function Table({ node, inside }: TableProps) {
  const align = (at: number) => ({ textAlign: node.align[at] ?? "start" });
  return (
    <div class="table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {node.header.map((cell, at) => (
              <th style={align(at)} key={at}>
                {inside(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {node.cells.map((row, at) => (
            <tr key={at}>
              {row.map((cell, column) => (
                <td style={align(column)} key={column}>
                  {inside(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const schemes = new Set(["http:", "https:", "mailto:"]);

/** Opens outside of this page, which it learns nothing of. The address stands beside a text that does not show it. */
export function Link({ target, children }: { target: string | null; children: ComponentChildren }) {
  const url = urlOf(target);
  if (url === undefined) return <span>{children}</span>;
  return (
    <>
      <a href={url.href} target="_blank" rel="noopener noreferrer" title={url.href}>
        {children}
      </a>
      <small class="host"> ({url.host || url.pathname})</small>
    </>
  );
}

function urlOf(target: string | null): URL | undefined {
  if (target === null || !URL.canParse(target)) return undefined;
  const url = new URL(target);
  return schemes.has(url.protocol) ? url : undefined;
}
