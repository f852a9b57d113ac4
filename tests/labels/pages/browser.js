// Run in the page: marks are read, turned back into the letters they stand for, and kept as places to select from.
(letters) => {
  const shown = document.body.innerText;
  const nodes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) nodes.push(walker.currentNode);
  const places = {};
  nodes.forEach((node, at) => {
    node.data = node.data.replace(/[\uE000-\uF8FF]/g, (mark, offset) => {
      places[mark.charCodeAt(0) - 0xE000] = [at, offset];
      return letters[mark.charCodeAt(0) - 0xE000];
    });
  });
  const moved = ([at, offset], by) => {
    offset += by;
    while (offset < 0 && at > 0) offset += nodes[--at].data.length;
    while (offset > nodes[at].data.length && at + 1 < nodes.length) offset -= nodes[at++].data.length;
    return [nodes[at], offset];
  };
  window.copied = (first, back, last, forward) => {
    const range = document.createRange();
    range.setStart(...moved(places[first], -back));
    range.setEnd(...moved(places[last], forward));
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return selection.toString();
  };
  return shown;
}
