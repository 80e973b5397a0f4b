import { allowOnce, ask, defineHelper } from "@acp-master/helper-sdk";

// Edits in docs/ are allowed, all else is put to you.
export default defineHelper({
  name: "docs-only",
  permission(request, session) {
    const isDocsEdit = request.toolCall.kind === "edit" && session.inside(request, ["docs"]);
    return isDocsEdit ? allowOnce(request) : ask();
  },
});
