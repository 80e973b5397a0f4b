// A content block that is no plain text: an image, a link, an embedded resource.
import { limits } from "../model/cut-text.ts";
import { asRecord, asText, type JsonRecord } from "../model/json-value.ts";
import { LongText } from "./long-text.tsx";
import { Link } from "./markdown.tsx";
import { Visible } from "./visible.tsx";

const images = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"]);

export function ContentBlock({ block }: { block: JsonRecord }) {
  const type = asText(block.type);
  const mimeType = asText(block.mimeType);
  const data = asText(block.data);
  if (type === "image" && images.has(mimeType) && data !== "")
    return (
      <img class="picture" src={`data:${mimeType};base64,${data}`} alt="Shown by the agent, without a description" />
    );
  if (type === "resource_link") {
    const uri = asText(block.uri);
    return (
      <p>
        <Link target={uri}>
          <Visible text={asText(block.title) || asText(block.name) || uri} />
        </Link>{" "}
        <code>
          <Visible text={uri} />
        </code>
      </p>
    );
  }
  const resource = asRecord(block.resource);
  if (type === "resource" && typeof resource.text === "string")
    return (
      <details>
        <summary>
          <Visible text={asText(resource.uri) || "A resource"} />
        </summary>
        <LongText text={resource.text} limits={limits.block} />
      </details>
    );
  return (
    <p class="muted">
      [<Visible text={[type || "something", mimeType || asText(resource.mimeType)].filter(Boolean).join(", ")} /> that
      this page cannot show]
    </p>
  );
}
