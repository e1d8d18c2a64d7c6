//! `/api/v1/crawls/{name}/labels` and `topic`.

use axum::body::Body;
use axum::http::Response;

use super::answer;
use super::call::Call;
use crate::problem::Problem;

type Answer = Result<Response<Body>, Problem>;

pub(super) async fn next_labels(call: Call) -> Answer {
    let (count, sample) = (call.number("count", 1, 100)?, call.number("sample", 100, 100_000)?);
    Ok(answer::json(200, &call.service().next_labels(&call.crawl()?, count, sample).await?))
}

pub(super) async fn answer(call: Call) -> Answer {
    Ok(answer::json(200, &call.service().answer(&call.crawl()?, &call.json()?).await?))
}

pub(super) async fn estimate(call: Call) -> Answer {
    Ok(answer::json(200, &call.service().estimate(&call.crawl()?).await?))
}

pub(super) async fn topic(call: Call) -> Answer {
    Ok(answer::json(200, &call.service().topic(&call.crawl()?)?))
}

pub(super) async fn lexicon(call: Call) -> Answer {
    Ok(answer::text("application/toml", call.service().lexicon(&call.crawl()?)?))
}

pub(super) async fn change(call: Call) -> Answer {
    Ok(answer::json(200, &call.service().change_topic(&call.crawl()?, &call.json()?).await?))
}

pub(super) async fn learn(call: Call) -> Answer {
    let job = call.service().learn(&call.crawl()?)?;
    call.job(job).await
}

pub(super) async fn rescore(call: Call) -> Answer {
    let job = call.service().rescore(&call.crawl()?)?;
    call.job(job).await
}
