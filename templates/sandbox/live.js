// Keeps the issue's page fresh: asks for a version number and reloads, or offers to while
// somebody is writing. Everything works without it.
(() => {
  document.documentElement.classList.add("scripted");
  const you = document.getElementById("you");
  if (you) you.addEventListener("change", () => you.form.submit());

  const openTarget = () => {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let at = target; at; at = at.parentElement) {
      if (at.tagName === "DETAILS" && at.classList.contains("thread")) at.open = true;
    }
    target.scrollIntoView();
  };
  if (location.hash.startsWith("#note_")) openTarget();
  addEventListener("hashchange", openTarget);

  for (const reply of document.querySelectorAll("details.reply")) {
    reply.addEventListener("toggle", () => {
      if (reply.open) reply.querySelector("textarea").focus();
    });
  }

  const issue = document.querySelector("[data-changes]");
  const news = document.getElementById("news");
  if (!issue || !news) return;
  news.querySelector("button").addEventListener("click", () => location.reload());

  const isWriting = () => {
    const fields = [...document.querySelectorAll("textarea")];
    const active = document.activeElement;
    return fields.some((field) => field.value !== field.defaultValue || field === active)
      || (active && active.tagName === "SELECT")
      || document.querySelector("details[data-form][open]") !== null;
  };

  const look = async () => {
    if (document.hidden) return;
    try {
      const answer = await fetch(issue.dataset.changes, { cache: "no-store" });
      if (!answer.ok) return;
      const { version } = await answer.json();
      if (String(version) === issue.dataset.version) return;
      if (isWriting()) news.hidden = false;
      else location.reload();
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // the server is away: look again later
    }
  };
  setInterval(look, 2000);
})();
