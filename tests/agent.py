"""Makes a search engine as an agent does, by the official client of the Model Context Protocol alone, and prints what it
got as JSON.

agent.py SUIDAO FOLDER MACHINE ADDRESS: FOLDER has words.txt and seeds.txt, a line each, and gets crawls/; MACHINE is the
configuration of the machine; ADDRESS serves the same crawls over HTTP afterwards, or is - for standard input and output.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

from mcp import Client, StdioServerParameters

suidao, folder, machine, address = sys.argv[1:]
folder = Path(folder)
words, seeds = ((folder / name).read_text().split() for name in ("words.txt", "seeds.txt"))


def text(result):
    return "".join(part.text for part in result.content)


async def read(client, seen):
    """What every agent may do."""
    seen["tools"] = sorted(tool.name for tool in (await client.list_tools()).tools)
    seen["crawls"] = [crawl["name"] for crawl in json.loads(text(await client.call_tool("list_crawls", {})))]
    found = text(await client.call_tool("search", {"crawl": "agent", "query": words[0], "limit": 3}))
    marked, answer = found.split("\n", 1)
    hits = json.loads(answer)["hits"]
    seen["marked"], seen["hits"] = marked, len(hits)
    page = text(await client.call_tool("read_page", {"crawl": "agent", "page": hits[0]["id"]}))
    seen["page"] = hits[0]["url"] in page
    why = text(await client.call_tool("why", {"crawl": "agent", "url": hits[0]["url"]}))
    seen["why"] = hits[0]["url"] in why
    resources = (await client.list_resources()).resources
    seen["resources"] = len(resources)
    seen["resource"] = len((await client.read_resource(resources[0].uri)).contents[0].text)
    wrong = {}
    for tool, arguments in {
        "search": {"crawl": "../x", "query": "x"},
        "read_page": {"crawl": "agent", "page": "/etc/passwd"},
        "crawl_status": {"crawl": "nowhere"},
        "why": {"crawl": "agent", "url": "file:///etc/passwd"},
        "list_crawls": {"unknown": 1},
    }.items():
        result = await client.call_tool(tool, arguments)
        wrong[tool] = text(result) if result.is_error else "not refused"
    seen["wrong"] = wrong


async def main():
    seen = {}
    if address != "-":
        async with Client(f"http://{address}/mcp") as client:
            await read(client, seen)
        print(json.dumps(seen, ensure_ascii=False))
        return
    server = StdioServerParameters(command=suidao, args=["mcp", str(folder / "crawls"), "--allow-control", "-c", machine])
    async with Client(server) as client:
        new = {"crawl": "agent", "keywords": words, "seeds": seeds, "pages": 60}
        started = await client.call_tool("start_crawl", new)
        assert not started.is_error, text(started)
        until = time.monotonic() + 120
        while json.loads(text(await client.call_tool("list_crawls", {})))[0]["state"] == "running":
            assert time.monotonic() < until
            await asyncio.sleep(0.1)
        await client.call_tool("add_seeds", {"crawl": "agent", "seeds": ["http://new.example.cn/"]})
        next_page = json.loads(text(await client.call_tool("label", {"crawl": "agent"})).split("\n", 1)[1])
        url = next_page["pages"][0]["url"]
        answered = text(await client.call_tool("label", {"crawl": "agent", "url": url, "relevant": True}))
        seen["labelled"] = json.loads(answered.split("\n", 1)[1])["labelled"]
        await client.call_tool("stop_crawl", {"crawl": "agent"})
        await read(client, seen)
    print(json.dumps(seen, ensure_ascii=False))


asyncio.run(main())
